import Glibc
import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd metrics", .timeLimit(.minutes(10)))
struct MetricsCommandTests {
    /// The samples of a text, without those that change from one moment to the next.
    private func samples(ofText text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { !$0.hasPrefix("#") && isSteady($0) }.map(
                String.init))
    }

    private func samples(ofJSON text: String) throws -> Set<String> {
        let families = try JSONValue(parsing: text).elements
        return Set(
            families.flatMap { family in
                family["samples"]?.elements.map { sample in
                    let labels = sample["labels"]?.members.map { #"\#($0.key)=\#($0.value.text)"# }
                    return
                        "\(family["name"]?.string ?? "")\(sample["suffix"]?.string ?? ""){\((labels ?? []).joined(separator: ","))} "
                        + (sample["value"]?.text ?? "")
                } ?? []
            }.filter(isSteady))
    }

    private func isSteady(_ sample: some StringProtocol) -> Bool {
        !["hostd_metrics_timestamp_seconds", "process_cpu", "process_resident"].contains {
            sample.hasPrefix($0)
        }
    }

    @Test("the metrics of a host without the module, as text and as JSON")
    func host() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        _ = try run.hostd("send", "push", "--payload", "{}", "--wait")
        let outcome = try run.hostd("metrics")
        #expect(outcome.exit == .code(0))
        let text = samples(ofText: outcome.output)
        for sample in [
            #"hostd_build_info{app="test",version="\#(HostVersion.current)"} 1"#,
            #"hostd_state{app="test",state="active"} 1"#,
            #"hostd_state{app="test",state="launching"} 0"#, #"hostd_busy{app="test"} 0"#,
            #"hostd_module_state{app="test",module="x.main",state="running"} 1"#,
            #"hostd_module_state{app="test",module="x.journal",state="failed"} 1"#,
            #"hostd_modules{app="test",status="failed"} 1"#,
            #"hostd_module_behind{app="test",module="x.journal"} 1"#,
            #"hostd_inbox_accepted_total{app="test"} 1"#,
            #"hostd_inbox_dead_letters_total{app="test"} 0"#,
            #"hostd_events_total{app="test",event="push"} 1"#,
        ] {
            #expect(text.contains(sample), "\(sample)")
        }
        // Its launch has thrown; the other one receives no event.
        let counters = text.filter {
            $0.hasPrefix("hostd_module_") && ($0.contains("_total{") || $0.contains("_seconds_"))
        }
        for sample in [
            "failures_total", "handling_seconds_sum", "handling_seconds_count",
        ] {
            #expect(
                counters.contains { $0.contains("\(sample){app=\"test\",module=\"x.journal\"}") })
        }
        #expect(
            counters.contains {
                $0.hasSuffix("failures_total{app=\"test\",module=\"x.journal\"} 1")
            })
        #expect(!counters.contains { $0.contains("x.main") })
        #expect(text.contains { $0.hasPrefix("process_start_time_seconds{app=\"test\"} 1") })
        #expect(
            text.contains { $0.hasPrefix("hostd_inbox_oldest_event_timestamp_seconds{") })
        #expect(try samples(ofJSON: run.hostd("metrics", "--json").output) == text)
        let client = try HostClient(
            to: StateDirectory(path: run.folder.path(".hostd")), within: HostClient.patience)
        let error = #expect(throws: HostClientError.self) {
            _ = try client.call("metrics") { $0.object { $0.member("format", "xml") } }
        }
        #expect("\(try #require(error))".contains("/format: expected one of 'text', 'json'"))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("the file is gone after a stop, and stays after a death")
    func file() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.metrics", "entry": "Modules.MetricsModule", "config": {"interval": "1ms"}}
            ]}
            """
        let run = try HostdRun(slatefile).ready()
        let path = run.folder.path(".hostd/hostd.prom")
        _ = try run.hostd("send", "memory-warning")
        while !fileExists(path) { sched_yield() }
        #expect(try run.terminated().exit == .code(0))
        #expect(!fileExists(path))

        let second = try HostdRun(slatefile, in: run.folder).ready()
        while !fileExists(path) { sched_yield() }
        second.process.send(SIGKILL)
        _ = try second.ended()
        #expect(fileExists(path))
    }

    @Test(
        "in a process of its own the module would have the metrics of that: it fails, and says so")
    func isolated() throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.metrics", "entry": "Modules.MetricsModule", "isolation": "process"}
            ]}
            """
        ).ready()
        let modules = try run.hostd("modules").unwrapped
        #expect(modules.contains("the metrics are those of the host, "))
        #expect(modules.contains("; remove 'isolation' from this module's entry"))
        #expect(
            try run.hostd("metrics").output.contains(
                #"hostd_module_state{app="test",module="x.metrics",state="failed"} 1"#))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("what the host answers is printed as it is; no host: 69")
    func answers() throws {
        let text = ##""# HELP a A.\n# TYPE a gauge\na{app=\"x\"} 1\n""##
        let host = try StandIn(["metrics": text])
        #expect(try host.hostd("metrics").output == "# HELP a A.\n# TYPE a gauge\na{app=\"x\"} 1\n")
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["metrics"], in: folder.path)
        #expect(outcome.exit == .code(69))
        #expect(try HostProcess.run(["metrics", "a"], in: folder.path).exit == .code(64))
    }
}

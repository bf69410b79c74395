import AppService
import TestSupport

@testable import ModuleHostCore

/// A host with a module `b` that is the program which misbehaves on demand, between modules `a` and `c`.
struct IsolatedTest {
    let host: HostUnderTest
    let probe: Probe
    let folder: TemporaryFolder

    private static let program = HostProcess.program("MisbehavingModule")

    /// - Parameters:
    ///   - sin: What the program does wrong, with arguments of its own; nothing for one that behaves.
    ///   - more: More members of its entry in the slatefile.
    ///   - top: More members of the slatefile.
    ///   - isDurable: Whether there is an inbox.
    ///   - processes: How it runs.
    ///   - others: More modules, after `c`.
    ///   - probe: What the others report to.
    /// - Throws: Where there is no room for a folder.
    init(
        _ sin: String..., more: String = "", top: String = "", isDurable: Bool = false,
        processes: ProcessSettings = .quick, others: [HostUnderTest.Entry] = [], probe: Probe
    ) throws {
        self.probe = probe
        folder = try TemporaryFolder()
        // A machine under load is no sin.
        let more =
            more.contains("killAfter")
            ? more
            : [more, #""killAfter": "10m""#]
                .filter { !$0.isEmpty }.joined(separator: ", ")
        var words = sin.isEmpty ? ["good"] : sin
        words += ["--journal", folder.path + "/journal"]
        if let index = words.firstIndex(of: "--once") {
            words.insert(folder.path + "/once", at: index + 1)
        }
        host = try HostUnderTest(
            [
                HostUnderTest.Entry(name: "a", type: "CallProbe"),
                HostUnderTest.Entry(name: "b", more: more, command: [Self.program] + words),
                HostUnderTest.Entry(name: "c"),
            ] + others, top: top, folder: isDurable ? folder : nil, processes: processes,
            probe: probe)
    }

    func launched() async throws -> IsolatedTest {
        _ = try await host.launched()
        return self
    }

    /// The events that the program has received, one a line, with `again` where the event said that it may
    /// have been received before.
    var received: [String] {
        get throws {
            let bytes = (try? readFile(at: folder.path + "/journal", limit: 1 << 20)) ?? []
            return try bytes.split(separator: UInt8(ascii: "\n")).map { line in
                let entry = try JSONValue(parsing: Array(line))
                let topic = entry["payload"]?["topic"]?.string.map { " \($0)" } ?? ""
                return (entry["event"]?.string ?? "?") + topic
                    + (entry["repeated"]?.bool == true ? " again" : "")
            }
        }
    }

    /// How the module's process is doing.
    var process: ModuleProcessStatus? {
        get async { await host.statuses()[1].process }
    }

    /// Waits until the module has come back from a death.
    ///
    /// - Parameter isLate: Whether it dies since it takes too long for an event.
    func revived(late isLate: Bool = false) async {
        func isUnresponsive(_ record: LogRecord) -> Bool {
            record.message.hasPrefix("unresponsive")
        }
        while isLate, !Task.isCancelled, !host.recorder.records.contains(where: isUnresponsive) {
            await host.settled()
            // Less than the deadline of another module at a time.
            host.time.advance(by: .milliseconds(100))
        }
        _ = await host.recorder.first { $0.message == "responsive again: it has caught up" }
    }

    /// What was logged under the module's id at a level or above it, process numbers left out.
    func log(_ level: LogLevel = .warning) -> [String] {
        host.recorder.records.filter { $0.module == "x.b" && $0.level >= level }.map {
            $0.message.replacing(/process \d+/, with: "process N")
                .replacing(/again in .*/, with: "again")
        }
    }

    func call(_ action: String, _ parameters: RouteParameters = RouteParameters()) async -> String {
        await begin(action, parameters).value
    }

    /// Begins a call, which the lane makes after all that it was given before.
    func begin(
        _ action: String, _ parameters: RouteParameters = RouteParameters()
    ) -> Promise<String> {
        let answer = Promise<String>()
        host.host.call(
            "x.b", action, parameters, origin: .local(ModuleID(checked: "x.a")), token: nil
        ) { result in
            switch result {
            case .success(.json(let json)): answer.keep(String(decoding: json, as: UTF8.self))
            case .success(.claimed(let module)): answer.keep("claimed by \(module)")
            case .failure(let error):
                answer.keep("\(error)".replacing(/process \d+/, with: "process N"))
            }
        }
        return answer
    }
}

extension ProcessSettings {
    /// With hardly a delay before a process is started again.
    static var quick: ProcessSettings {
        var settings = ProcessSettings()
        settings.restarts.shortestDelay = .milliseconds(1)
        settings.limits.closing = .seconds(2)
        settings.limits.terminating = .milliseconds(50)
        return settings
    }
}

extension IsolatedTest {
    /// The processes that the program was, and has started, which still run.
    func isLeftBehind() throws -> [Int] {
        let bytes = (try? readFile(at: folder.path + "/journal", limit: 1 << 20)) ?? []
        let numbers = try bytes.split(separator: UInt8(ascii: "\n")).flatMap { line in
            let entry = try JSONValue(parsing: Array(line))
            return [entry["pid"]?.int, entry["grandchild"]?.int].compactMap(\.self)
        }
        return Set(numbers).filter { number in
            // Of one whose parent is gone a number may be left until a process asks for it.
            let status = (try? readFile(at: "/proc/\(number)/stat", limit: 4096)) ?? []
            return !status.isEmpty && !String(decoding: status, as: UTF8.self).contains(") Z ")
        }.sorted()
    }
}

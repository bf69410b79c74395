import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd why URL", .timeLimit(.minutes(10)))
struct WhyURLTests {
    private func findings(_ run: HostdRun, _ url: String) throws -> (
        summary: String, findings: [JSONValue]
    ) {
        let outcome = try run.hostd("why", url, "--json")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let report = try JSONValue(parsing: outcome.output)
        return (
            report["summary"]?.string ?? "", report["findings"]?.elements.map(\.self) ?? []
        )
    }

    @Test("the route, whether the caller may open it, and the state of the module")
    func answers() throws {
        let run = try HostdRun(HostdRun.shippedSlatefile()).ready()
        let url = "slate://com.mm.community/userInfo"
        let open = try findings(run, url + "?style=1")
        #expect(open.summary == "\(url): com.mm.community answers it")
        #expect(
            open.findings.map { $0["state"]?.string } == ["opens", "running"])
        #expect(open.findings[0]["reason"]?.string == "route 'userInfo', for every caller")
        #expect(open.findings[1]["module"]?.string == "com.mm.community")

        let local = try findings(run, "slate://com.mm.community/signIn?name=mia")
        #expect(local.findings.map { $0["module"]?.string } == [nil, "com.mm.browser"])
        #expect(
            local.findings[0]["reason"]?.string
                == "route '*', for every caller; com.mm.community would answer it by its route "
                + "'signIn', only for modules of the app")
        let unreadable = try findings(run, url + "?style=red")
        #expect(unreadable.findings[0]["state"]?.string == "does not open")
        #expect(
            unreadable.findings[0]["reason"]?.string
                == "route 'userInfo', for every caller; its parameters cannot be read")
        #expect(unreadable.findings[0]["command"] == nil)

        let rewritten = try findings(run, "https://www.example.com/user/mia/posts")
        #expect(
            rewritten.summary
                == "https://www.example.com/user/mia/posts: com.mm.community answers it, as "
                + "slate://com.mm.community/user/mia/posts")

        let text = try run.hostd("why", url).output
        #expect(text.hasPrefix("\(url): com.mm.community answers it\n\nopens\n  reason     route"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("no route, no URL, no host")
    func failures() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let none = try findings(run, "app://x.journal/nowhere?token=secret")
        #expect(none.summary == "app://x.journal/nowhere: nothing answers it")
        #expect(none.findings.map { $0["state"]?.string } == ["no route"])
        #expect(none.findings[0]["reason"]?.string == "no route for 'app://x.journal/nowhere'")
        #expect(none.findings[0]["command"]?.string == "hostd routes")
        let invalid = try run.hostd("why", "app://x journal/")
        #expect(invalid.exit == .code(64) && invalid.error.hasPrefix("hostd why: "))
        // The id of an event may be a URL, too.
        _ = try run.hostd("send", "push", "--payload", "{}", "--id", "app://order/7", "--wait")
        #expect(try run.hostd("why", "app://order/7").output.contains("id 'app://order/7'"))
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.hostd("why", "app://order/7").exit == .code(0))
        let silent = try run.hostd("why", "app://x.journal/nowhere")
        #expect(silent.exit == .code(69))
        #expect(silent.error.contains("start one with 'hostd run'"))
    }
}

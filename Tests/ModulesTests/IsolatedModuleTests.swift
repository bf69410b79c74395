import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("Swift modules in a process of their own", .timeLimit(.minutes(10)))
struct IsolatedModuleTests {
    private func slatefile(_ id: String, _ entry: String, config: String = "{}") -> String {
        ModulesTests.slatefile(
            id, entry, config: config, isolated: true, rest: #", "schemes": ["slate"]"#)
    }

    @Test("one that is killed comes back with its routes")
    func killed() async throws {
        let slatefile = slatefile("com.mm.browser", "Modules.BrowserModule")
        try await TestHost.run(slatefile: slatefile, .init(executable: "hostd")) { app in
            let page = "https://www.example.com/a?b=c"
            let first = await app.answer(page)
            #expect(first.contains(page))
            try await app.killProcess(of: "com.mm.browser")
            #expect(await app.answer(page) == first)
        }
    }

    @Test("each event is received once, to the end")
    func once() async throws {
        let folder = try TemporaryFolder()
        let slatefile = slatefile("com.mm.journal", "Modules.JournalModule")
        try await TestHost.run(slatefile: slatefile, .init(folder: folder, executable: "hostd")) {
            app in
            try await app.deliver(.push, "{}")
            try await app.deliver(.background)
        }
        let journal = try readFile(at: folder.path + "/journal.ndjson", limit: 1 << 16)
        let events = try journal.split(separator: UInt8(ascii: "\n")).map {
            try JSONValue(parsing: Array($0))["event"]?.string
        }
        #expect(
            events == ["launch", "activate", "push", "resign-active", "background", "terminate"])
    }

    @Test("it receives each event's origin as that is")
    func origins() async throws {
        let folder = try TemporaryFolder()
        let slatefile = slatefile("com.mm.journal", "Modules.JournalModule")
        try await TestHost.run(slatefile: slatefile, .init(folder: folder, executable: "hostd")) {
            app in
            for origin in [
                Origin.control(uid: 1000, pid: 42), .inbox,
                .signal(name: "RTMIN+1", uid: nil, pid: 3, value: -1),
                .local(try ModuleID("com.mm.main")),
            ] {
                try await app.deliver(.push, "{}", from: origin)
            }
        }
        let journal = try readFile(at: folder.path + "/journal.ndjson", limit: 1 << 16)
        let pushes = try journal.split(separator: UInt8(ascii: "\n"))
            .map { try JSONValue(parsing: Array($0)) }.filter { $0["event"]?.string == "push" }
        #expect(
            pushes.map { $0["origin"]?.text } == [
                #"{"kind":"control","uid":1000,"pid":42}"#, #"{"kind":"inbox"}"#,
                #"{"kind":"signal","name":"RTMIN+1","pid":3,"value":-1}"#,
                #"{"kind":"local","module":"com.mm.main"}"#,
            ])
    }

    @Test("one that cannot be made says why, once")
    func cannotBeMade() async throws {
        let slatefile = slatefile("com.mm.community", "Modules.CommunityModule")
        try await TestHost.run(slatefile: slatefile, .uncheckedInHostd) { app in
            let messages = app.messages(of: "com.mm.community")
            #expect(messages.count == 1)
            #expect(messages.first?.contains("no \"domain\": give one") == true, "\(messages)")
        }
    }

    @Test("a service with a façade is used across processes, as in one")
    func services() async throws {
        let slatefile = ModulesTests.slatefile(
            "com.mm.community", "Modules.CommunityModule",
            config: #"{ "domain": "https://www.example.com" }"#, isolated: true,
            rest: #", "schemes": ["slate"]"#,
            others: #", { "id": "com.mm.client", "entry": "ModulesTests.DirectoryClient" }"#)
        try await TestHost.run(slatefile: slatefile, .uncheckedInHostd) { app in
            func answers() async -> String { await app.answer("slate://directory", from: .host) }
            #expect(await answers() == #""no user is signed in, mia wrote 0""#)
            #expect(await app.answer("slate://signIn?name=mia", from: .host) == "null")
            #expect(await app.answer("slate://post?text=hello", from: .host) == "null")
            #expect(await answers() == #""mia is signed in, mia wrote 1""#)
            try await app.killProcess(of: "com.mm.community")
            #expect(await answers().contains("mia wrote 0"))
        }
    }
}

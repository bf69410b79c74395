import ModuleHostCore
import TestSupport
import Testing

/// The module of docs/modules.md that takes its time.
@Suite("A module with a hold", .timeLimit(.minutes(10)))
struct OutboxModuleTests {
    private func slatefile(_ office: String) -> String {
        ModulesTests.slatefile(
            "com.mm.outbox", "ModulesTests.OutboxModule", config: #"{ "office": "\#(office)" }"#,
            rest: #", "schemes": ["slate"]"#)
    }

    @Test("a stop waits until what was written is sent, and the module has its result")
    func sent() async throws {
        let end = try await TestHost.run(slatefile: slatefile("sent")) { app in
            #expect(await app.answer("slate://outbox/write?text=hello", from: .host) == "null")
            app.requestStop()
            _ = await app.log.first(
                containing: "the stop waits: com.mm.outbox holds 'background': sending 1 letters")
            PostOffice.named("sent").isOpen.keep(true)
            _ = await app.log.first(containing: "1 sent, 0 left")
        }
        #expect(end == .stopped)
    }

    @Test("when the time is over the sending is called off, and the stop goes on")
    func ranOut() async throws {
        let end = try await TestHost.run(slatefile: slatefile("ranOut")) { app in
            #expect(await app.answer("slate://outbox/write?text=hello", from: .host) == "null")
            app.requestStop()
            _ = await app.log.first(containing: "the stop waits")
            app.time.advance(by: .seconds(10))
        }
        #expect(end == .stopped)
    }

    @Test("the time that runs out names the module, and what it held for")
    func named() async throws {
        try await TestHost.run(slatefile: slatefile("named")) { app in
            #expect(await app.answer("slate://outbox/write?text=hello", from: .host) == "null")
            try await app.deliver(.background)
            app.time.advance(by: .seconds(10))
            let record = await app.log.first(containing: "held")
            #expect(record.module == "com.mm.outbox")
            #expect(record.message == "held 'background' longer than 10s: sending 1 letters")
            let failed = await app.log.first(containing: "cancelled")
            #expect(
                failed.message
                    == "work 'sending 1 letters' was cancelled: the time of its hold, 'deadlines.stop', is over"
            )
        }
    }
}

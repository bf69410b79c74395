import ModuleHostCore
import TestSupport
import Testing

/// The modules of docs/modules.md with work of their own.
@Suite("Modules with long work", .timeLimit(.minutes(10)))
struct LongWorkTests {
    @Test("a long-running task changes its module, beside the module's calls")
    func ticker() async throws {
        let end = try await TestHost.run(modules: [TickerModule.self]) { app in
            #expect(try await price(app) == "null")
            TickerModule.input.values.last?.yield(.init(symbol: "a", value: 7))
            while try await price(app) == "null" { await Task.yield() }
            #expect(try await price(app) == "7")
        }
        #expect(end == .stopped)
    }

    private func price(_ app: TestHost) async throws -> String {
        try await app.call("test.ticker", "price/:symbol", ["symbol": "a"]).text
    }

    @Test("a stop waits for the hold of an upload, and calls the upload off when its time is over")
    func upload() async throws {
        let end = try await TestHost.run(modules: [UploadModule.self]) { app in
            try await app.deliver(.background)
            PhotoServer.shared.uploads.values.last?.finish()
            try await app.deliver(.foreground)
            app.requestStop()
            _ = await app.log.first(containing: "the stop waits: test.upload holds 'background'")
            app.time.advance(by: .seconds(10))
            await PhotoServer.shared.uploads.values.last?.isCancelled.value
        }
        #expect(end == .stopped)
    }
}

// The module of docs/answers.md, compiled and run.

import ModuleHostCore
import ModuleHostTesting
import Testing

@Suite("DraftsModule", .timeLimit(.minutes(10)))
struct DraftsModuleTests {
    @Test("a stop waits for what it does in the background")
    func stop() async throws {
        let host = try await TestHost(modules: [DraftsModule.self])
        #expect(await host.stop() == .stopped)
        #expect(host.messages(of: "test.drafts") == ["2 drafts saved"])
    }
}

private let server = Server()

private struct Server {
    @concurrent func save(_ drafts: [String]) async -> Int { drafts.count }
}

private final class DraftsModule: AsyncBackgroundResponder {
    private let context: ModuleContext
    private var drafts = ["tea", "more tea"]

    init(context: ModuleContext) { self.context = context }

    func didEnterBackground(isolation: isolated any Actor) async throws {
        let count = await server.save(drafts)
        // In the module again.
        drafts.removeFirst(count)
        context.log.notice("\(count) drafts saved")
    }
}

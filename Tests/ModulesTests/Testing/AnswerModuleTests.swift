// The tests of answers that come later in docs/testing-modules.md, compiled and run.

import ModuleHostCore
import ModuleHostTesting
import Testing

@Suite("Testing answers that come later", .timeLimit(.minutes(10)))
struct AnswerModuleTests {
    /// A module that answers when a friend has said yes.
    final class InviteModule: RoutedModule {
        static var routes: [Route<InviteModule>] {
            [
                Route("invite", access: .public, deadline: .seconds(10)) {
                    (module, call, reply: Reply<String>) in
                    module.context.log.info("waiting for an answer")
                    module.invitation = reply
                },
                Route("accept") { (module, call) in module.invitation?.send("accepted") },
            ]
        }

        private let context: ModuleContext
        private var invitation: Reply<String>?

        init(context: ModuleContext) { self.context = context }
    }

    @Test("another call makes the answer come")
    func answered() async throws {
        let host = try await TestHost(modules: [InviteModule.self])
        let answer = Task { try await host.call("test.invite", "invite") }
        try await host.logged("waiting for an answer", by: "test.invite")  // the handler has begun
        try await host.call("test.invite", "accept")
        #expect(try await answer.value.decode(String.self) == "accepted")
        #expect(await host.stop() == .stopped)
    }

    @Test("the deadline passes, on the clock of the test")
    func deadline() async throws {
        let host = try await TestHost(modules: [InviteModule.self])
        let answer = Task { try await host.call("test.invite", "invite") }
        try await host.logged("waiting for an answer", by: "test.invite")
        try await host.settle()  // the handler has returned
        try await host.advance(by: .seconds(10))
        let error = await #expect(throws: RouteError.self) { try await answer.value }
        #expect(error.map { "\($0)" } == "test.invite did not answer 'invite' within 10s")
        #expect(await host.stop() == .stopped)
    }
}

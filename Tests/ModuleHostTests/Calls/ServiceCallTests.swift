import TestSupport
import Testing

@testable import ModuleHostCore

/// A service that lives in its module.
private protocol Desk { func ask() -> String }

private struct OpenDesk: Desk {
    func ask() -> String { "yes" }
}

/// A service that is handed out.
private struct Ticket: Sendable { var number: Int }

@Suite("Services in calls, and posts", .timeLimit(.minutes(10)))
struct ServiceCallTests {
    private func host(probe: Probe, tokens: TokenStore = .empty) async throws -> HostUnderTest {
        try await HostUnderTest(
            ["a", "b", "c"].map { .init(name: $0, type: "CallProbe") }
                + [.init(name: "g", type: "GuardProbe"), .init(name: "p")],
            top: #""schemes": ["app"]"#, tokens: tokens, probe: probe
        ).launched()
    }

    /// Has module `b` provide a service of each kind.
    private func provide(_ probe: Probe, making: @escaping @Sendable () -> Void) {
        probe.whenCalled("b act") { module, _ in
            try module.context.services.register((any Desk).self) {
                making()
                return OpenDesk()
            }
            try module.context.services.register(Ticket.self) {
                making()
                return Ticket(number: 7)
            }
            return ""
        }
    }

    @Test("a provider that does not return is late with who asked, in a route, too")
    func provider() async throws {
        let probe = Probe()
        let door = probe.close("making")
        provide(probe) { probe.stand("making") }
        let failure = Promise<String>()
        probe.whenCalled("a act") { module, _ in
            do {
                return "\(try module.context.services.resolve(Ticket.self).number)"
            } catch {
                failure.keep("\(error)")
                throw error
            }
        }
        let test = try await host(probe: probe)
        _ = await test.open("app://x.b/act", from: .host)
        async let stuck = test.open("app://x.a/act", from: .host)
        await probe.reached("making")
        test.overrun()
        #expect(await stuck == "x.a took too long to answer, and is unresponsive")
        #expect(await test.call("x.c", "sum", ["left": 1, "right": 2]) == "3")
        for module in ["a", "b"] {
            #expect(
                await test.call("x.\(module)", "sum", ["left": 1, "right": 2])
                    == "x.\(module) is unresponsive, and calls do not wait for it")
        }
        door.open()
        #expect(
            await failure.value
                == "'Ticket' took too long: x.b is unresponsive, and so is its caller")
        #expect(await test.stopped() == .stopped)
    }

    @Test("services of a late module are not to be had, but for those handed out already")
    func lateModule() async throws {
        let probe = Probe()
        provide(probe) {}
        let test = try await host(probe: probe)
        _ = await test.open("app://x.b/act", from: .host)
        let first = try await test.asFirst { module in
            let services = module.context.services
            return "\(try services.resolve(Ticket.self).number) "
                + (try services.call((any Desk).self) { $0.ask() })
        }
        #expect(first == "7 yes")
        let door = Door()
        probe.whenCalled("b user") { _, _ in
            door.pass()
            return ""
        }
        async let stuck = test.open("app://x.b/user/mia", from: .host)
        await probe.reached("b user")
        test.overrun()
        #expect(await stuck == "x.b took too long to answer, and is unresponsive")
        let second = try await test.asFirst { module in
            let services = module.context.services
            #expect(try services.resolve(Ticket.self).number == 7)
            return try services.call((any Desk).self) { $0.ask() }
        }
        #expect(second == "'Desk' is not available now: x.b is unresponsive")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("calls through services and interceptors count towards the depth of 64")
    func depth() async throws {
        let probe = Probe()
        let deepest = LockedList<String>()
        probe.whenCalled("a act") { module, _ in
            do {
                let context = LaneConfined(module.context)
                return try module.context.services.call((any Desk).self) { _ in
                    try context.openInModule().mediator.perform("x.a", "act", as: String.self)
                }
            } catch {
                deepest.append("\(error)")
                throw error
            }
        }
        provide(probe) {}
        let test = try await host(probe: probe)
        _ = await test.open("app://x.b/act", from: .host)
        _ = await test.open("app://x.a/act", from: .host)
        // 32 times the route of `a` and the service of `b`; the interceptor would have been the 65th.
        #expect(
            deepest.values.first
                == "modules already call each other 64 deep: 32 × (x.a → x.b)")
        #expect(probe.entries.filter { $0 == "a act" }.count == 32)
        #expect(await test.stopped() == .stopped)
    }

    @Test("posts are delivered in order, after what was accepted before, not once the app stops")
    func posts() async throws {
        let probe = Probe()
        let received = LockedList<String>()
        probe.when("p message") { module in
            if case .message(let message) = module.context.event?.content {
                received.append(message.topic)
            }
        }
        probe.when("p terminate") { try $0.context.post("three") }
        let test = try await host(probe: probe)
        let text = try await test.asFirst { module in
            #expect(throws: EventError.self) { try module.context.post("") }
            try module.context.post("one", ["n": 1])
            try module.context.post("two")
            test.host.stop(because: "the test is over")
            return "\(received.values)"
        }
        #expect(text == "[]")
        #expect(await test.end() == .stopped)
        #expect(received.values == ["one", "two"])
    }

    @Test("a reload replaces the tokens for the calls that come after it")
    func tokens() async throws {
        let probe = Probe()
        let old = try store("old-token-of-32-characters-or-more-1")
        let new = try store("new-token-of-32-characters-or-more-2")
        let test = try await host(probe: probe, tokens: old)
        func call(_ token: String) async -> String {
            await test.call("x.b", "user", ["name": "mia"], token: RouteToken(token))
        }
        #expect(await call("old-token-of-32-characters-or-more-1") == #""mia""#)
        #expect(await call("new-token-of-32-characters-or-more-2") == "no action 'user' of 'x.b'")
        await withCheckedContinuation { continuation in
            test.host.reload(test.host.slatefile, tokens: new, origin: .host) { _ in
                continuation.resume()
            }
        }
        #expect(await call("old-token-of-32-characters-or-more-1") == "no action 'user' of 'x.b'")
        #expect(await call("new-token-of-32-characters-or-more-2") == #""mia""#)
        #expect(await test.stopped() == .stopped)
    }

    private func store(_ token: String) throws -> TokenStore {
        try .read(
            Array(#"[{"name": "one", "token": "\#(token)", "scopes": ["app://"]}]"#.utf8),
            path: "tokens.json", schemes: ["app"])
    }
}

import TestSupport
import Testing

@testable import ModuleHostCore

/// Whose services are found after a reload that holds, after one that does not, and what they may not meet.
@Suite("Reload and services", .timeLimit(.minutes(10)))
struct ReloadServicesTests {
    private typealias Entry = HostUnderTest.Entry
    private static let a = Entry(name: "a", type: "CallProbe")

    private func provide(_ name: String, at entry: String, _ probe: Probe) {
        probe.when(entry) { module in
            try module.context.services.register((any Named).self) { NamedThing(name: name) }
        }
    }

    /// What module a finds.
    private func found(_ test: HostUnderTest) async throws -> String {
        try await test.asFirst { try $0.context.services.resolve((any Named).self).name }
    }

    /// Reloads from modules a and b to a and others, and has b provide while c, which does too, is made.
    ///
    /// - Returns: The host, and what came of it.
    private func reloadAsBProvides(
        to others: [Entry]
    ) async throws -> (test: HostUnderTest, outcome: String) {
        let (probe, door) = (Probe(), Door())
        provide("old", at: "b memory-warning", probe)
        probe.when("c init") { module in
            try module.context.services.register((any Named).self) { NamedThing(name: "new") }
            door.pass()
        }
        let test = try await HostUnderTest([Self.a, Entry(name: "b")], probe: probe).launched()
        async let outcome = test.reload([Self.a] + others)
        await probe.reached("c init")
        try test.deliver(.memoryWarning)
        door.open()
        return (test, try await outcome.text)
    }

    @Test("undone, and once more: those before are found, and none of what was made for it")
    func undone() async throws {
        let probe = Probe()
        provide("old", at: "b init", probe)
        provide("new", at: "c init", probe)
        probe.when("c launch") { module in
            try module.context.services.register((any Titled).self) { NamedThing(name: "new") }
            throw TestError()
        }
        let test = try await HostUnderTest([Self.a, Entry(name: "b")], probe: probe).launched()
        for _ in 0..<2 {
            let outcome = try await test.reload([Self.a, Entry(name: "c")])
            #expect(outcome.text == "undone: module 'x.c' failed in launch: broken")
            #expect(try await found(test) == "old")
            let isThere = try await test.asFirst {
                "\($0.context.services.provides((any Titled).self))"
            }
            #expect(isThere == "false")
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("that of a module which goes is found no longer", arguments: [false, true])
    func gone(othersCome: Bool) async throws {
        let probe = Probe("gone \(othersCome)")
        provide("old", at: "b init", probe)
        let test = try await HostUnderTest([Self.a, Entry(name: "b")], probe: probe).launched()
        let more = othersCome ? [Entry(name: "c")] : []
        _ = try await test.reload([Self.a] + more)
        let text = try await found(test)
        #expect(
            text == "no module provides 'Named': is its module in the slatefile, and enabled?")
        #expect(
            try await test.asFirst { "\($0.context.services.provides((any Named).self))" }
                == "false")
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that a module which stays provides at the last moment undoes all")
    func conflict() async throws {
        let (test, outcome) = try await reloadAsBProvides(to: [Entry(name: "b"), Entry(name: "c")])
        #expect(outcome == "undone: 'Named' is provided already by x.b; provide it once")
        #expect(try await found(test) == "old")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a service that a removed module still provides is not in the way")
    func lateProvider() async throws {
        let (test, outcome) = try await reloadAsBProvides(to: [Entry(name: "c")])
        #expect(outcome == "applied: added x.c; removed x.b")
        #expect(try await found(test) == "new")
        #expect(await test.stopped() == .stopped)
    }
}

private protocol Named: Sendable { var name: String { get } }

private protocol Titled: Sendable {}

private struct NamedThing: Named, Titled { let name: String }

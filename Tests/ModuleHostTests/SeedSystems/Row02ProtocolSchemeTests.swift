import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What a module of contacts offers to others, as they see it.
protocol Contacts: Sendable {
    func phone(of name: String) -> String?
}

/// Offers its contacts to Swift code as a service, and to all other callers by URL.
final class ContactsModule: RoutedModule {
    struct Book: Contacts {
        func phone(of name: String) -> String? { name == "mia" ? "555" : nil }
    }

    struct Named: Decodable { var name: String }

    static var routes: [Route<ContactsModule>] {
        [
            Route("phone/:name", access: .public) { (module, request: Named, call) in
                try module.context.services.resolve((any Contacts).self).phone(of: request.name)
            }
        ]
    }

    private let context: ModuleContext

    init(context: ModuleContext) throws {
        self.context = context
        try context.services.register((any Contacts).self) { Book() }
    }
}

/// Row 2 of the seed systems: protocol → implementation, called with static types.
@Suite("Row 2: services by protocol", .timeLimit(.minutes(10)))
struct Row02ProtocolSchemeTests {
    protocol Accounts: Sendable { var name: String { get } }
    struct Stored: Accounts { let name: String }
    protocol Feed: AnyObject { var count: Int { get set } }
    final class LocalFeed: Feed { var count = 0 }
    protocol Chain: Sendable {}
    protocol Link: Sendable {}
    struct Knot: Chain, Link {}

    /// Runs `body` as code of module `a`, with `b` providing what `provide` registers.
    private func withServices(
        _ probe: Probe, provide: @escaping @Sendable (ServiceRegistry) throws -> Void,
        _ body: @escaping @Sendable (ServiceRegistry) throws -> String
    ) async throws -> String {
        probe.when("b init") { try provide($0.context.services) }
        let answer = Promise<String>()
        probe.when("a memory-warning") { module in
            do {
                answer.keep(try body(module.context.services))
            } catch {
                answer.keep("\(error)")
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        let text = await answer.value
        #expect(await test.stopped() == .stopped)
        return text
    }

    @Test("a service is made when it is first asked for, once, and is typed")
    func shared() async throws {
        let probe = Probe()
        let text = try await withServices(probe) { services in
            try services.register((any Accounts).self) {
                probe.note("made")
                return Stored(name: "mia")
            }
        } _: { services in
            let before = probe.entries("made").count
            let first = try services.resolve((any Accounts).self).name
            let second = try services.resolve((any Accounts).self).name
            return "\(before) \(first) \(second)"
        }
        #expect(text == "0 mia mia")
        #expect(probe.entries("made") == ["made"])
    }

    @Test("only the slatefile names the provider: a caller knows the protocol alone")
    func named() async throws {
        let entries = [
            HostUnderTest.Entry(name: "a", type: "CallProbe"),
            .init(name: "contacts", type: "ContactsModule"),
        ]
        for (index, entries) in [entries, [entries[0]]].enumerated() {
            let test = try await HostUnderTest(entries, probe: Probe("named \(index)")).launched()
            let text = try await test.asFirst { module in
                let contacts = try module.context.services.resolve((any Contacts).self)
                return contacts.phone(of: "mia") ?? "unknown"
            }
            #expect(
                text
                    == [
                        "555",
                        "no module provides 'Contacts': is its module in the slatefile, and "
                            + "enabled?",
                    ][index])
            #expect(await test.stopped() == .stopped)
        }
    }

    @Test("what a service does can be had from outside, by a URL of the same module")
    func fromOutside() async throws {
        let test = try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"),
                .init(name: "contacts", type: "ContactsModule"),
            ], top: #""schemes": ["app"]"#, probe: Probe()
        ).launched()
        #expect(await test.open("app://x.contacts/phone/mia") == #""555""#)
        #expect(await test.open("app://phone/tom") == "null")
        #expect(await test.stopped() == .stopped)
    }

    @Test("or made for each request")
    func eachTime() async throws {
        let probe = Probe()
        _ = try await withServices(probe) { services in
            try services.register((any Accounts).self, lifetime: .eachTime) {
                probe.note("made")
                return Stored(name: "mia")
            }
        } _: { services in
            _ = try services.resolve((any Accounts).self)
            return try services.resolve((any Accounts).self).name
        }
        #expect(probe.entries("made").count == 2)
    }

    @Test("what is not Sendable is called where it lives")
    func confined() async throws {
        let text = try await withServices(Probe()) { services in
            try services.register((any Feed).self) { LocalFeed() }
        } _: { services in
            try services.call((any Feed).self) { $0.count += 41 }
            return "\(try services.call((any Feed).self) { $0.count + 1 })"
        }
        #expect(text == "42")
    }

    @Test("a cycle is an error with the path, and leaves the registry usable")
    func cycle() async throws {
        let text = try await withServices(Probe()) { services in
            let confined = LaneConfined(services)
            try services.register((any Chain).self) {
                _ = try confined.openInModule().resolve((any Link).self)
                return Knot()
            }
            try services.register((any Link).self) {
                _ = try confined.openInModule().resolve((any Chain).self)
                return Knot()
            }
            try services.register((any Accounts).self) { Stored(name: "still here") }
        } _: { services in
            var text = ""
            do {
                _ = try services.resolve((any Chain).self)
            } catch {
                text = "\(error)"
            }
            return "\(text), \(try services.resolve((any Accounts).self).name)"
        }
        #expect(
            text
                == "services need each other to be created: Chain → Link → Chain, still here")
    }

    @Test("a service without a provider is an error that says so")
    func missing() async throws {
        let text = try await withServices(Probe()) { _ in
        } _: { services in
            #expect(!services.provides((any Accounts).self))
            return try services.resolve((any Accounts).self).name
        }
        #expect(
            text == "no module provides 'Accounts': is its module in the slatefile, and enabled?")
    }

    @Test("a second provider is refused, and the first one named")
    func duplicate() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.services.register((any Accounts).self) { Stored(name: "a") }
        }
        probe.when("b init") { module in
            do {
                try module.context.services.register((any Accounts).self) { Stored(name: "b") }
            } catch {
                probe.note("\(error)")
            }
        }
        let test = try HostUnderTest("a", "b", probe: probe)
        try test.host.launch()
        let end = await test.end()
        #expect(
            end
                == .failed(
                    "invalid services: x.b: 'Accounts' is provided already by x.a; provide it once")
        )
        #expect(probe.entries.contains("'Accounts' is provided already by x.a; provide it once"))
    }

    @Test("a provider that throws is asked again at the next request")
    func throwing() async throws {
        let probe = Probe()
        let text = try await withServices(probe) { services in
            try services.register((any Accounts).self) {
                probe.note("asked")
                if probe.entries("asked").count == 1 { throw TestError() }
                return Stored(name: "mia")
            }
        } _: { services in
            do {
                _ = try services.resolve((any Accounts).self)
                return "no error"
            } catch {
                return "\(error), \(try services.resolve((any Accounts).self).name)"
            }
        }
        #expect(text == "broken, mia")
    }

    @Test("a service of a failed module is gone with it")
    func gone() async throws {
        let probe = Probe()
        probe.when("b launch") { _ in throw TestError() }
        let text = try await withServices(probe) { services in
            try services.register((any Accounts).self) { Stored(name: "mia") }
        } _: { services in
            try services.resolve((any Accounts).self).name
        }
        #expect(
            text == "no module provides 'Accounts': is its module in the slatefile, and enabled?")
    }

    @Test("a service of a late module answers at once that it is unresponsive")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        let answer = Promise<String>()
        probe.when("b init") { module in
            try module.context.services.register((any Accounts).self) { Stored(name: "mia") }
        }
        probe.when("b background") { _ in door.pass() }
        probe.when("a memory-warning") { module in
            do {
                answer.keep(try module.context.services.resolve((any Accounts).self).name)
            } catch {
                answer.keep("\(error)")
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.time.advance(by: .seconds(6))
        try test.deliver(.memoryWarning)
        #expect(await answer.value == "'Accounts' is not available now: x.b is unresponsive")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a provider that gets stuck makes its caller late too; both come back")
    func stuck() async throws {
        let probe = Probe()
        let door = Door()
        let answer = Promise<String>()
        probe.when("b init") { module in
            try module.context.services.register((any Accounts).self) {
                probe.note("making")
                door.pass()
                return Stored(name: "mia")
            }
        }
        probe.when("a background") { module in
            do {
                answer.keep(try module.context.services.resolve((any Accounts).self).name)
            } catch {
                answer.keep("\(error)")
            }
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("making")
        test.time.advance(by: .seconds(6))
        await probe.reached("c background")
        door.open()
        #expect(
            await answer.value
                == "'Accounts' took too long: x.b is unresponsive, and so is its caller")
        #expect(await test.stopped() == .stopped)
    }
}

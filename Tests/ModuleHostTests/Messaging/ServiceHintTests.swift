import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Hints at similar services", .timeLimit(.minutes(10)))
struct ServiceHintTests {
    @Test("a module that is made later, or has failed, is named as the provider of its service")
    func later() async throws {
        let probe = Probe()
        let use: Probe.Act = { try $0.context.services.call((any PlainService).self) { _ in } }
        probe.when("b init", use)
        probe.when("d launch", use)
        let test = try await HostUnderTest(
            [
                .init(name: "a"), .init(name: "b"),
                .init(name: "c", type: "FailingProvider"), .init(name: "d"),
            ], probe: probe
        ).launched()
        func errors(_ name: String) -> [String] {
            test.recorder.records.filter { $0.module == "x.\(name)" && $0.level == .error }
                .map(\.message)
        }
        #expect(
            errors("b") == [
                "init failed; the app continues without it: 'PlainService' is not available yet: x.c "
                    + "provides it and stands later in the slatefile; move it up, or resolve the service at launch"
            ])
        #expect(
            errors("d") == [
                "launch failed; the app continues without it: its provider x.c is unavailable: "
                    + "it failed: init: broken"
            ])
        #expect(await test.stopped() == .stopped)
    }

    /// With more, each failed look-up would keep the lane from other modules.
    @Test(
        "the most similar service is searched among 256 at most",
        arguments: [
            (255, "no module provides 'LedgerBooks'; did you mean 'LedgerBook'?"),
            (256, "no module provides 'LedgerBooks': is its module in the slatefile, and enabled?"),
        ])
    func limit(others: Int, expected: String) async throws {
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe")], probe: Probe()
        ).launched()
        let text = try await test.asFirst { module in
            let services = module.context.services
            func register<Service: Numbered>(_ service: Service.Type) throws {
                try services.register(service) { Service() }
            }
            try register(LedgerBook.self)
            for number in 1...others { try register(Zero.type(number)) }
            return "\(try services.resolve(LedgerBooks.self))"
        }
        #expect(text == expected)
        #expect(await test.stopped() == .stopped)
    }
}

/// Declares a service, and fails in `init`.
final class FailingProvider: ServiceProvider {
    static var services: [Any.Type] { [(any PlainService).self] }

    init(context: ModuleContext) throws { throw TestError() }
}

/// A type for each number, made of one for each of its binary digits.
private protocol Numbered: Sendable { init() }

private struct Zero: Numbered {
    static func type(_ number: Int) -> any Numbered.Type {
        func adding<Digits: Numbered>(to digits: Digits.Type) -> any Numbered.Type {
            if number & 1 == 0 { Even<Digits>.self } else { Odd<Digits>.self }
        }
        guard number > 0 else { return Self.self }
        return adding(to: type(number >> 1))
    }
}

private struct Even<Half: Numbered>: Numbered {}
private struct Odd<Half: Numbered>: Numbered {}
private struct LedgerBook: Numbered {}
private struct LedgerBooks: Numbered {}

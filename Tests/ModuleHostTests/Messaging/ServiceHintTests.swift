import TestSupport
import Testing

@testable import ModuleHost

@Suite("Hints at similar services", .timeLimit(.minutes(10)))
struct ServiceHintTests {
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

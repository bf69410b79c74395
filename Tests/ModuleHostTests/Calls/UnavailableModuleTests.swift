import TestSupport
import Testing

@testable import ModuleHostCore

/// A module with a route that fails in `init`.
final class BrokenProbe: RoutedModule {
    static var routes: [Route<BrokenProbe>] { [Route("act") { (_, _) in 1 }] }

    init(context: ModuleContext) throws { throw TestError(description: "no database") }
}

@Suite("Calls to a module that cannot be called now", .timeLimit(.minutes(10)))
struct UnavailableModuleTests {
    @Test("the error says that the module is not created yet")
    func waiting() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            do {
                try module.context.mediator.perform("x.b", "act")
            } catch {
                probe.note("\(error)")
            }
        }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", type: "CallProbe")], probe: probe
        ).launched()
        #expect(
            probe.entries(where: "called")
                == ["x.b cannot be called now: it is not created yet"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the error says that the module has failed, and why")
    func failed() async throws {
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b", type: "BrokenProbe")],
            probe: Probe()
        ).launched()
        let text = try await test.asFirst { "\(try $0.context.mediator.perform("x.b", "act"))" }
        #expect(text == "x.b cannot be called now: it failed: init: no database")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module's record says which: not created yet, failed, or removed")
    func reasons() throws {
        let probe = Probe()
        let slatefile = try HostUnderTest.slatefile([.init(name: "a")], probe: probe)
        let entry = try #require(slatefile.modules.first)
        let record = ModuleRecord(entry: entry, slot: ModuleSlot(number: 1, id: entry.id))
        #expect(record.unavailability == "it is not created yet")
        _ = record.apply(.fail(ModuleFailure(reason: "out of luck")))
        #expect(record.unavailability == "it failed: out of luck")
        _ = record.apply(.takeOut([]))
        #expect(record.unavailability == "it was removed")
    }
}

extension Probe {
    /// The entries that contain a word, whatever stands beside it.
    fileprivate func entries(where word: String) -> [String] {
        entries.filter { $0.contains(word) }
    }
}

import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

protocol PickDelegate {
    func didPick(_ item: String) throws -> String
}

extension CallProbe: PickDelegate {
    func didPick(_ item: String) throws -> String { "\(name) took \(item)" }
}

/// A module that keeps a delegate of another module, and calls it back.
final class PickerProbe: RoutedModule, ConfiguredModule {
    struct Configuration: Decodable { var probe: String }

    private let probe: Probe?
    private var delegate: ModuleReference<any PickDelegate>?
    private var basket: [String] = []

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
    }

    static var routes: [Route<PickerProbe>] {
        [
            Route("open") { (module, call) in
                module.delegate = call.userInfo["delegate"] as? ModuleReference<any PickDelegate>
                if let basket = call.userInfo["basket"] as? Handover<Basket> {
                    module.basket = basket.take()?.items ?? ["empty"]
                }
            },
            Route("pick", access: .public) { (module, call) in
                try module.delegate?.call { try $0.didPick("a pear") } ?? "nothing"
            },
            Route("basket") { (module, call) in module.basket },
        ]
    }
}

/// An object that is not `Sendable`.
final class Basket {
    var items: [String] = []
}

@Suite("References to objects of other modules", .timeLimit(.minutes(10)))
struct ModuleReferenceTests {
    private func host(_ probe: Probe) async throws -> HostUnderTest {
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b", type: "PickerProbe")],
            probe: probe
        ).launched()
        _ = try await test.asFirst { module in
            let delegate = module.context.reference(to: module) { $0 as any PickDelegate }
            try module.context.mediator.perform("x.b", "open", userInfo: ["delegate": delegate])
            return ""
        }
        return test
    }

    @Test("a module calls the delegate of another one, inside that module")
    func call() async throws {
        let test = try await host(Probe())
        #expect(await test.call("x.b", "pick") == #""a took a pear""#)
        let text = try await test.asFirst {
            try $0.context.mediator.perform("x.b", "pick", as: String.self)
        }
        #expect(text == "a took a pear")
        #expect(await test.stopped() == .stopped)
    }

    @Test("an overdue owner is not entered, and the call says so")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        probe.whenCalled("a memory-warning") { _, _ in
            door.pass()
            return ""
        }
        let test = try await host(probe)
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun()
        #expect(
            await test.call("x.b", "pick")
                == "x.b: x.a is unresponsive, and calls do not wait for it")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("the thread of an overdue owner uses its own object")
    func ownThread() async throws {
        let probe = Probe()
        let door = Door()
        probe.whenCalled("a memory-warning") { module, _ in
            let own = module.context.reference(to: module)
            door.pass()
            probe.note(try own.call { try $0.didPick("its own") })
            return ""
        }
        let test = try await host(probe)
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun()
        await test.settled()
        door.open()
        await probe.reached("a took its own")
        #expect(await test.stopped() == .stopped)
    }

    @Test("an object that was released is an error that says so")
    func released() async throws {
        let test = try await host(Probe())
        let text = try await test.asFirst { module in
            let reference = module.context.reference(to: Basket())
            return "\(try reference.call { $0.items.count })"
        }
        #expect(text == "x.a cannot be called now: the object was released")
        #expect(await test.stopped() == .stopped)
    }

    @Test("code that is not on the lane cannot use it")
    func offLane() async throws {
        let test = try await host(Probe())
        let kept = Guarded<ModuleReference<CallProbe>?>(nil)
        _ = try await test.asFirst { module in
            let reference = module.context.reference(to: module)
            kept.withLock { $0 = reference }
            return ""
        }
        let reference = try #require(kept.withLock { $0 })
        #expect(throws: RouteError.offLane) { try reference.call { _ in } }
        #expect(await test.stopped() == .stopped)
    }

    @Test("an object that is not Sendable is given away, and taken once")
    func handover() async throws {
        let test = try await host(Probe())
        let text = try await test.asFirst { module in
            let basket = Basket()
            basket.items = ["plum"]
            let handover = Handover(basket)
            let mediator = module.context.mediator
            try mediator.perform("x.b", "open", userInfo: ["basket": handover])
            let first = try mediator.perform("x.b", "basket", as: [String].self)
            try mediator.perform("x.b", "open", userInfo: ["basket": handover])
            return "\(first) \(try mediator.perform("x.b", "basket", as: [String].self))"
        }
        #expect(text == #"["plum"] ["empty"]"#)
        #expect(await test.stopped() == .stopped)
    }
}

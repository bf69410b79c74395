import AppService
import Synchronization
import TestSupport

@testable import ModuleHostCore

/// What every module of a trial does: notes that it was entered, acts as the schedule says, and checks that
/// no other thread is in it.
final class ModelPlayer {
    let stage: ModelStage
    let index: Int
    private let context: ModuleContext
    private var moments: [Moment] = []
    /// The moment at which the module was entered.
    private var entered = 0
    /// The thread that is in the module; relaxed, so that it orders nothing.
    private let inside = Atomic<UInt>(0)

    init(_ context: ModuleContext) throws {
        guard let stage = ModelStage.of(worker: try context.config()),
            let index = ModelStage.index(context.id.text)
        else { throw ModelError() }
        self.context = context
        self.stage = stage
        self.index = index
    }

    deinit { stage.close(moments) }

    // MARK: Being entered

    func handle(_ name: Moment.EventName) throws {
        guard let event = context.event else { return stage.error("m\(index): no event in hand") }
        let acts: [Schedule.Act] =
            if case .numbered(let number) = name { stage.events[number]?.acts[index] ?? [] } else {
                []
            }
        try enter(.event(name, event.sequence)) { try act(acts) }
    }

    func handle(_ number: String) throws { try handle(.numbered(Int(number) ?? -1)) }

    func answer(_ call: RouteCall) throws -> Int {
        guard let call = call.userInfo["call"] as? Schedule.Call else { throw ModelError() }
        try enter(.call(call.number)) { try act(call.acts) }
        return call.number
    }

    /// Acts slice by slice, and waits before each but the first until it is woken.
    nonisolated(nonsending) func run(_ call: RouteCall) async throws -> Int {
        guard let slices = call.userInfo["slices"] as? Schedule.Slices else { throw ModelError() }
        for (index, acts) in slices.acts.enumerated() {
            if index > 0 { await stage.sleep(slices.number) }
            try enter(.slice(slices.number, index)) { try act(acts) }
        }
        return slices.number
    }

    func handle(_ broadcast: Schedule.Broadcast) throws {
        try enter(.broadcast(broadcast.number)) { try act(broadcast.acts[index]) }
    }

    private func enter(_ invocation: Moment.Invocation, _ body: () throws -> Void) throws {
        let current = NativeThread.current
        let before = inside.exchange(current, ordering: .relaxed)
        defer { inside.store(before, ordering: .relaxed) }
        guard before == 0 || before == current else {
            return stage.error("m\(index) is entered by two threads at once, for \(invocation)")
        }
        switch invocation {
        // Slices of calls that were made before: only another call may come back on the module's own stack.
        case .event, .slice(_, 1...):
            guard before == 0 else {
                return stage.error("m\(index) receives \(invocation) in the middle of something")
            }
        case .call, .broadcast, .slice: break
        }
        let outer = entered
        entered = note(.begins(invocation))
        defer {
            entered = outer
            note(.ends)
        }
        try body()
    }

    @discardableResult
    private func note(_ what: Moment.What) -> Int {
        let moment = stage.moment(what, of: index)
        moments.append(moment)
        return moment.time
    }

    // MARK: Acting

    private func act(_ acts: [Schedule.Act]) throws {
        for act in acts {
            switch act {
            case .stall(let door): try stand(before: door, turns: nil)
            case .meet(let door, let turns): try stand(before: door, turns: turns)
            case .open(let door):
                note(.opens(door: door))
                stage.open(door)
            case .call(let call): perform(call)
            case .send(let broadcast):
                note(.sends(broadcast))
                let report = context.center.send(to: (any ModelResponder).self) {
                    try $0.handle(broadcast)
                }
                note(.sent(broadcast, report))
            case .post(let event):
                note(.offers(event.number))
                try context.post("\(event.number)")
                note(.offered(event.number))
            case .begin(let slices): begin(slices)
            case .wake(let number): stage.wake(number)
            case .fail: throw ModelError()
            }
        }
    }

    private func stand(before door: Int, turns: Int?) throws {
        let config: Int = try context.config()
        note(.stands(door: door))
        stage.pass(door, entered: entered, turns: turns)
        if try context.config() != config {
            stage.error("m\(index): its settings changed under its hands")
        }
    }

    private func begin(_ slices: Schedule.Slices) {
        context.mediator.perform(
            "x.m\(slices.target)", "later", userInfo: ["slices": slices]
        ) { [stage, index] result in
            let answer = Self.answer { try result.get() as? Int ?? -1 }
            stage.note(.answeredLater(slices, answer), of: index)
        }
    }

    private func perform(_ call: Schedule.Call) {
        note(.asks(call))
        let answer = Self.answer {
            try context.mediator.perform(
                "x.m\(call.target)", "act", userInfo: ["call": call], as: Int.self)
        }
        note(.answered(call, answer))
    }

    private static func answer(_ value: () throws -> Int) -> Moment.Answer {
        let answer: Moment.Answer
        do {
            answer = .value(try value())
        } catch RouteError.overdue(let id) {
            answer = .overdue(ModelStage.index(id.text) ?? -1)
        } catch RouteError.tookTooLong(let id) {
            answer = .tookTooLong(ModelStage.index(id.text) ?? -1)
        } catch RouteError.stopped, RouteError.unavailable {
            answer = .ended
        } catch {
            answer = "\(error)" == "\(ModelError())" ? .failure : .other("\(error)")
        }
        return answer
    }
}

/// A typed message of the trials.
protocol ModelResponder: AnyObject {
    func handle(_ broadcast: Schedule.Broadcast) throws
}

/// A module that receives everything that can happen in a trial.
final class KeenModelModule: RoutedModule, RootProvider, LaunchResponder, ActivationResponder,
    BackgroundResponder, TerminationResponder, MessageResponder, ShortcutResponder,
    ConfigurationResponder, ModelResponder
{
    static var routes: [Route<KeenModelModule>] {
        [
            Route("act") { (module: KeenModelModule, call) in try module.player.answer(call) },
            Route("later") { (module: KeenModelModule, call) async throws -> Int in
                try await module.player.run(call)
            },
        ]
    }

    private let player: ModelPlayer

    init(context: ModuleContext) throws { player = try ModelPlayer(context) }

    var root: String? { nil }
    var topics: [String] { ["*"] }

    func didFinishLaunching(_ launch: Launch) throws { try player.handle(.state(.launch)) }
    func didBecomeActive() throws { try player.handle(.state(.activate)) }
    func willResignActive() throws { try player.handle(.state(.resignActive)) }
    func didEnterBackground() throws { try player.handle(.state(.background)) }
    func willEnterForeground() throws { try player.handle(.state(.foreground)) }
    func willTerminate() throws { try player.handle(.state(.terminate)) }
    func receive(_ message: Message) throws { try player.handle(message.topic) }
    func handle(_ broadcast: Schedule.Broadcast) throws { try player.handle(broadcast) }

    func performShortcut(_ shortcut: Shortcut) throws -> Bool {
        try player.handle(shortcut.type)
        let event = Int(shortcut.type).flatMap { player.stage.events[$0] }
        return event?.claimers.contains(player.index) == true
    }

    func configurationDidChange(_ change: ConfigurationChange) throws {
        try player.handle(change.config?.text ?? "")
    }
}

/// A module that receives messages and nothing else.
final class PlainModelModule: RoutedModule, MessageResponder, ModelResponder {
    static var routes: [Route<PlainModelModule>] {
        [
            Route("act") { (module: PlainModelModule, call) in try module.player.answer(call) },
            Route("later") { (module: PlainModelModule, call) async throws -> Int in
                try await module.player.run(call)
            },
        ]
    }

    private let player: ModelPlayer

    init(context: ModuleContext) throws { player = try ModelPlayer(context) }

    var topics: [String] { ["*"] }

    func receive(_ message: Message) throws { try player.handle(message.topic) }
    func handle(_ broadcast: Schedule.Broadcast) throws { try player.handle(broadcast) }
}

/// What a module of a trial throws.
struct ModelError: Error, CustomStringConvertible {
    var description: String { "broken" }
}

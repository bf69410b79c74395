import Testing

@testable import ModuleHostCore

@Suite("The life of a module's instance")
struct ModuleLifeTests {
    private typealias Change = ModuleLife.Change

    private static let missed = MissedEvents(events: [.launch, .activate], stateChanges: 3)
    private static let rest = MissedEvents(events: [.activate], stateChanges: 3)
    private static let none = MissedEvents(events: [], stateChanges: 3)
    private static let failure = ModuleFailure(reason: "broken")
    private static let other = ModuleFailure(reason: "needs x.a")
    private static let events: [EventKind] = [.resignActive, .background, .terminate]

    private static let lives: [ModuleLife] = [
        .waiting, .making, .made, .ready, .catchingUp(missed), .catchingUp(rest),
        .catchingUp(none), .running, .failed(failure), .failed(other), .leaving(events),
        .leaving([.terminate]), .leaving([]), .released, .done,
    ]
    private static let changes: [Change] = [
        .make, .made, .launched, .launchedForReload, .takeEffect, .launch(missed), .received,
        .caughtUp, .fail(failure), .fail(other), .takeOut(events), .shutDown(.background),
        .shutDown(.terminate), .release, .finish,
    ]

    private typealias Row = TransitionRow<ModuleLife, Change, ModuleLife.Effect>

    /// Whatever is not in it means nothing.
    private static let table: [Row] =
        [
            Row(.waiting, .make, .making), Row(.making, .made, .made),
            Row(.made, .launched, .running, [.run]), Row(.made, .launchedForReload, .ready),
            Row(.ready, .takeEffect, .running, [.run]),
            Row(.made, .launch(missed), .catchingUp(missed)),
            Row(.catchingUp(missed), .received, .catchingUp(rest)),
            Row(.catchingUp(rest), .received, .catchingUp(none)),
            Row(.catchingUp(none), .received, .catchingUp(none)),
            Row(.leaving(events), .shutDown(.background), .leaving([.terminate])),
            Row(.leaving(events), .shutDown(.terminate), .leaving([])),
            Row(.leaving([.terminate]), .shutDown(.background), .leaving([])),
            Row(.leaving([.terminate]), .shutDown(.terminate), .leaving([])),
            Row(.leaving([]), .shutDown(.background), .leaving([])),
            Row(.leaving([]), .shutDown(.terminate), .leaving([])),
            Row(.ready, .takeOut(events), .leaving([.terminate])),
        ]
        + [missed, rest, none].map { Row(.catchingUp($0), .caughtUp, .running, [.run]) }
        + [events, [.terminate], []].map { Row(.leaving($0), .release, .released) }
        + [.waiting, .making, .made, .failed(failure), .failed(other), .done].map {
            Row($0, .takeOut(events), .leaving([]))
        }
        + [.catchingUp(missed), .catchingUp(rest), .catchingUp(none), .running].map {
            Row($0, .takeOut(events), .leaving(events))
        }
        + [
            .waiting, .making, .made, .catchingUp(missed), .catchingUp(rest), .catchingUp(none),
            .running, .failed(failure), .failed(other),
        ].map { Row($0, .finish, .done, [.end, .forget]) }
        + [failure, other].flatMap { reason in
            [
                Row(.failed(reason), .make, .making),
                Row(.failed(reason), .fail(failure), .failed(failure)),
                Row(.failed(reason), .fail(other), .failed(other)),
            ]
                + [
                    .waiting, .making, .made, .ready, .catchingUp(missed), .catchingUp(rest),
                    .catchingUp(none), .running,
                ].map { Row($0, .fail(reason), .failed(reason), [.end]) }
        }

    @Test("each change does in each life what the table says, and otherwise nothing")
    func table() {
        expectTable(Self.table, of: Self.lives, Self.changes) { $0.apply($1) }
    }

    /// Everything that can happen, up to so many changes, with the effects of each.
    private func everyWay(
        _ length: Int, from life: ModuleLife = .waiting, after effects: [ModuleLife.Effect] = [],
        _ check: (ModuleLife, [ModuleLife.Effect]) -> Void
    ) {
        check(life, effects)
        guard length > 0 else { return }
        for change in Self.changes {
            var next = life
            let more = next.apply(change)
            if next != life { everyWay(length - 1, from: next, after: effects + more, check) }
        }
    }

    @Test("whatever happens, it runs once for each time that it is made, and is out once it leaves")
    func everyWay() {
        var ways = 0
        everyWay(8) { life, effects in
            ways += 1
            // Each end is that of a beginning, or of one that has never run.
            let pairs = zip(effects, effects.dropFirst())
            #expect(!pairs.contains { $0 == (.run, .run) })
            switch life {
            case .running: #expect(effects.last == .run)
            case .failed: #expect(effects.last == .end)
            case .done: #expect(effects.last == .forget)
            case .waiting, .making, .made, .ready, .catchingUp: #expect(effects.last != .run)
            case .leaving, .released: break
            }
        }
        #expect(ways > 5_000)
        for var life in Self.lives {
            _ = life.apply(.takeOut([]))
            _ = life.apply(.release)
            #expect(life == .released)
        }
    }

    @Test("what a module is told leads from what it knows to what is")
    func paths() {
        #expect(LifecycleState.inactive.path(to: .active) == [.activate])
        #expect(LifecycleState.inactive.path(to: .background) == [.background])
        #expect(LifecycleState.inactive.path(to: .inactive).isEmpty)
        #expect(LifecycleState.inactive.path(to: .launching).isEmpty)
        #expect(LifecycleState.active.path(to: .background) == [.resignActive, .background])
        #expect(
            LifecycleState.active.path(to: .terminated) == [.resignActive, .background, .terminate])
        #expect(LifecycleState.background.path(to: .terminated) == [.terminate])
        #expect(LifecycleState.launching.path(to: .terminated) == [.terminate])
        #expect(LifecycleState.terminating.path(to: .terminated).isEmpty)
    }
}

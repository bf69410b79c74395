import Testing

@testable import ModuleHostCore

@Suite("The phases of an app")
struct AppPhaseTests {
    private static let end = AppHost.End.failed("x")
    private static let phases: [AppPhase] = [
        .made, .making, .launching, .activating, .running, .reloading, .stopping(end),
        .releasing(end), .ended,
    ]
    private static let changes: [AppPhase.Change] = [
        .begin, .startedUp, .launched, .activated, .reload, .reloaded, .stop(end), .notified,
        .released,
    ]

    private typealias Row = TransitionRow<AppPhase, AppPhase.Change, AppPhase.Effect>

    /// Whatever is not in it means nothing.
    private static let table: [Row] = [
        Row(.made, .begin, .making, [.makeModules]),
        Row(.made, .stop(end), .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop]),
        Row(.making, .startedUp, .launching, [.reportStartedUp]),
        Row(.making, .stop(end), .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop]),
        Row(.launching, .launched, .activating, [.openRoot]),
        Row(.launching, .stop(end), .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop]),
        Row(.activating, .activated, .running, [.becomeReady, .beginNextReload, .openInbox]),
        Row(.activating, .stop(end), .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop]),
        Row(.running, .reload, .reloading, []),
        Row(.running, .stop(end), .stopping(end), [.closeEntrances, .notifyOfStop]),
        Row(.reloading, .reloaded, .running, [.beginNextReload]),
        Row(.reloading, .stop(end), .stopping(end), [.closeEntrances, .undoReload, .notifyOfStop]),
        Row(.stopping(end), .reloaded, .stopping(end), [.beginNextReload]),
        Row(.stopping(end), .notified, .releasing(end), [.release]),
        Row(.releasing(end), .reloaded, .releasing(end), [.beginNextReload]),
        Row(.releasing(end), .notified, .releasing(end), [.release]),
        Row(.releasing(end), .released, .ended, [.end(end)]),
    ]

    @Test("each change does in each phase what the table says, and otherwise nothing")
    func table() {
        expectTable(Self.table, of: Self.phases, Self.changes) { $0.apply($1) }
    }

    @Test("a second stop changes neither the end nor what is done")
    func secondStop() {
        var phase = AppPhase.running
        _ = phase.apply(.stop(.stopped))
        #expect(phase.apply(.stop(Self.end)).isEmpty)
        #expect(phase == .stopping(.stopped))
        _ = phase.apply(.notified)
        #expect(phase.apply(.stop(Self.end)).isEmpty)
        #expect(phase.apply(.released) == [.end(.stopped)])
    }

    @Test("each phase is before ready, ready or ending", arguments: phases)
    func kinds(of phase: AppPhase) {
        let kinds = [phase.isBeforeReady, phase.isReady, phase.isEnding]
        #expect(kinds.count(where: \.self) == 1)
    }

    @Test("from each phase a stop leads to the end, in as many changes as it has steps")
    func everyPhaseEnds() {
        for var phase in Self.phases where !phase.isEnding {
            let effects = [.stop(Self.end), .notified, .released].flatMap { phase.apply($0) }
            #expect(phase == .ended)
            #expect(effects.suffix(3) == [.notifyOfStop, .release, .end(Self.end)])
        }
    }
}

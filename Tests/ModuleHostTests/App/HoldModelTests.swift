import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Random schedules of holds, their ends, the passing of time, foreground, background and stop, beside a
/// model that does the same in a few lines.
///
/// The last module, `d`, takes its time for `background` and `terminate`: an open answer is a hold, and outside a stop what comes
/// next for this module waits for it.
@Suite("Holds beside a model", .timeLimit(.minutes(10)))
struct HoldModelTests {
    /// A step of a schedule.
    enum Step {
        case background, foreground, stop
        case end(Int)
        case release(Int)
        case answer(Int)
        case pass(halfSeconds: Int)
    }

    /// What the modules are to take at their next step: how many holds each, and whether with a handler.
    private static let names = ["a", "b", "c"]

    /// All times in half seconds.
    private struct Model {
        struct Hold {
            let module: String
            let step: String
            let reason: String
            let number: Int
            var hasHandler = false
            /// Nil where it does not run out.
            var left: Int?
            /// The number of an answer that is open; nil for a hold that a module takes itself.
            var answer: Int?
            /// The time that it has in the foreground, too.
            var callLeft: Int?
            /// The time from its beginning to the next whole half second.
            var early = Duration.zero

            /// Whether it has run out before the end of the half second.
            var hasRunOutEarly: Bool { left == 0 && early > .zero }
        }

        static let timeLimit = 20
        static let callLimit = 60

        var entries: [String] = []
        var open: [Hold] = []
        var taken = 0
        var state = LifecycleState.active
        var isWaiting = false
        var hasReceivedEnd = false
        var isReleased = false
        /// How many holds each module takes when it is notified: the same for the host's modules.
        let plan: [[Bool]]
        /// Which answers come later.
        let answersLater: Set<Int>
        /// The time for which a stop waits for the answers to what was before it.
        let patience: Int

        /// The events that wait for an answer of `d`.
        var queue: [String] = []
        var answered = 0
        /// The answers that were cancelled in the last step.
        var lost: [Int] = []
        /// The rest of the time for which a stop that is asked for waits; nil before, and once it has begun.
        var askedLeft: Int?
        var isStopping = false
        /// The time from its end to the next whole half second.
        let earliness: Duration
        /// The time of a hold that begins now, and how long before the whole half second that is.
        var fresh = (left: Self.timeLimit, early: Duration.zero)

        init(plan: [[Bool]], answersLater: Set<Int>, stopAll: Duration) {
            (self.plan, self.answersLater) = (plan, answersLater)
            let patience = stopAll - stopAll / 3 * 2
            self.patience = Int(patience / .milliseconds(500)) + 1
            earliness = .milliseconds(500) * self.patience - patience
        }

        func takes(_ entry: Int) -> [Bool] { plan[entry % plan.count] }

        var hasOpenAnswer: Bool { open.contains { $0.answer != nil } }

        /// Has `d` receive an event.
        private mutating func tell(_ event: String) {
            entries.append("d \(event)")
            guard event != "foreground" else { return }
            answered += 1
            guard answersLater.contains(answered) else { return }
            open.append(
                Hold(
                    module: "d", step: event, reason: "its handler has not returned", number: 0,
                    left: state == .active ? nil : fresh.left, answer: answered,
                    callLeft: isStopping ? nil : Self.callLimit, early: fresh.early))
        }

        private mutating func drain() {
            while !hasOpenAnswer, !queue.isEmpty { tell(queue.removeFirst()) }
        }

        mutating func answer(_ number: Int) {
            guard open.contains(where: { $0.answer == number }) else { return }
            entries.append("d ends answer \(number)")
            open.removeAll { $0.answer == number }
            drain()
            goOn()
        }

        mutating func notify(_ event: String) {
            defer {
                if event != "resign-active", event != "activate" {
                    if !isStopping, hasOpenAnswer { queue.append(event) } else { tell(event) }
                }
            }
            for (index, name) in HoldModelTests.names.enumerated() {
                entries.append("\(name) \(event)")
                guard event == "background" || event == "terminate" else { continue }
                for hasHandler in takes(taken + index) {
                    taken += 1
                    open.append(
                        Hold(
                            module: name, step: event, reason: "hold \(taken)", number: taken,
                            hasHandler: hasHandler, left: fresh.left, early: fresh.early))
                }
            }
        }

        mutating func background() {
            guard state == .active else { return }
            state = .background
            notify("resign-active")
            renew()
            notify("background")
        }

        private mutating func renew() {
            for index in open.indices where open[index].left == nil {
                (open[index].left, open[index].early) = fresh
            }
        }

        mutating func foreground() {
            guard state == .background else { return }
            state = .active
            for index in open.indices { open[index].left = nil }
            notify("foreground")
            notify("activate")
        }

        mutating func stop() {
            guard state != .terminating, askedLeft == nil else { return }
            askedLeft = patience
            goOn()
        }

        private mutating func begin() {
            (askedLeft, isStopping, queue) = (nil, true, [])
            background()
            state = .terminating
            isWaiting = true
        }

        mutating func end(_ number: Int) {
            open.removeAll { $0.answer == nil && $0.number == number }
            goOn()
        }

        mutating func pass() {
            askedLeft = askedLeft.map { $0 - 1 }
            let hasBegun = askedLeft == 0
            if hasBegun {
                fresh = (Self.timeLimit + 1, earliness)
                begin()
                fresh = (Self.timeLimit, .zero)
            }
            for index in open.indices {
                open[index].left = open[index].left.map { $0 - 1 }
                open[index].callLeft = open[index].callLeft.map { $0 - 1 }
            }
            for hold in open where hold.left == 0 {
                if hold.hasHandler { entries.append("\(hold.module) loses \(hold.reason)") }
            }
            let over = open.filter { $0.left == 0 || $0.callLeft == 0 }
            open.removeAll { $0.left == 0 || $0.callLeft == 0 }
            lost = over.compactMap(\.answer)
            drain()
            if hasBegun || !over.isEmpty, over.allSatisfy(\.hasRunOutEarly) {
                fresh.early = earliness
            }
            goOn()
            fresh.early = .zero
        }

        private mutating func goOn() {
            if askedLeft != nil, !hasOpenAnswer { begin() }
            guard isWaiting, open.isEmpty else { return }
            if !hasReceivedEnd {
                hasReceivedEnd = true
                notify("terminate")
                return goOn()
            }
            isWaiting = false
            isReleased = true
            entries += HoldModelTests.names.reversed().map { "\($0) deinit" }
        }

        func shown(stopLeft: Duration?) -> [String] {
            open.map { hold in
                var left = hold.left.map { Duration.milliseconds(500) * $0 - hold.early }
                if let limit = stopLeft { left = min(left ?? limit, limit) }
                return "x.\(hold.module) \(hold.step): \(hold.reason)"
                    + (left.map { ", \($0.briefText) left" } ?? "")
            }
        }
    }

    /// Which holds the modules take: the host's side of the plan.
    private final class Script: Sendable {
        let shelf = HoldShelf()
        private let plan: [[Bool]]
        private let taken = Guarded(0)

        init(_ plan: [[Bool]]) { self.plan = plan }

        func act(_ index: Int, _ probe: Probe) -> Probe.Act {
            { [self] module in
                let takes = plan[(taken.withLock { $0 } + index) % plan.count]
                for hasHandler in takes {
                    let number = taken.withLock { taken in
                        taken += 1
                        return taken
                    }
                    let handler = {
                        probe.note("\(HoldModelTests.names[index]) loses hold \(number)")
                    }
                    try shelf.take("hold \(number)", module, expiry: hasHandler ? handler : nil)
                }
            }
        }
    }

    private static func schedule(_ random: inout SeededGenerator) -> [Step] {
        var steps: [Step] = []
        for _ in 0..<Int.random(in: 5...25, using: &random) {
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: steps.append(.background)
            case 2: steps.append(.foreground)
            case 3: steps.append(.end(Int.random(in: 1...9, using: &random)))
            case 4: steps.append(.release(Int.random(in: 1...9, using: &random)))
            case 5: steps.append(.answer(Int.random(in: 1...4, using: &random)))
            default: steps.append(.pass(halfSeconds: Int.random(in: 1...12, using: &random)))
            }
        }
        steps.append(.stop)
        for _ in 0..<12 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: steps.append(.end(Int.random(in: 1...12, using: &random)))
            case 2: steps.append(.answer(Int.random(in: 1...6, using: &random)))
            default: steps.append(.pass(halfSeconds: Int.random(in: 1...6, using: &random)))
            }
        }
        // By now what is held has run out.
        return steps + [.pass(halfSeconds: 80)]
    }

    @Test("every schedule goes as the model says", arguments: 0..<40)
    func schedule(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let plan = (0..<7).map { _ in
            (0..<Int.random(in: 0...2, using: &random)).map { _ in Bool.random(using: &random) }
        }
        let answersLater = Set((1...40).filter { _ in Bool.random(using: &random) })
        // Never at the same instant as anything else.
        let stopAll = Duration.milliseconds(seed.isMultiple(of: 2) ? 40_250 : 12_250)
        var model = Model(plan: plan, answersLater: answersLater, stopAll: stopAll)
        let script = Script(plan)
        let probe = Probe("schedule \(seed)")
        for number in 1...40 where !answersLater.contains(number) {
            AnswerProbe.answer(number, of: probe)
        }
        for (index, name) in Self.names.enumerated() {
            for step in ["background", "terminate"] {
                probe.when("\(name) \(step)", script.act(index, probe))
            }
        }
        let test = try await HostUnderTest(
            ["a", "b", "c"].map { HostUnderTest.Entry(name: $0) }
                + [HostUnderTest.Entry(name: "d", type: "AnswerProbe")],
            top: #""deadlines": {"stopAll": "\#(stopAll.wholeNanoseconds / 1_000_000)ms"}"#,
            probe: probe
        ).launched()
        await test.calm()
        let before = probe.entries.count
        var stopLeft: Duration?

        /// The entries of `d` stand apart: what waits for it begins in jobs of its own.
        func sorted(_ entries: some Sequence<String>) -> [[String]] {
            let entries = entries.filter { !$0.hasPrefix("d loses") }
            return [
                entries.filter { !$0.hasPrefix("d ") }, entries.filter { $0.hasPrefix("d ") },
            ]
        }

        /// Compares what has happened, and what is held, with the model.
        func compare() async throws -> Bool {
            for number in model.lost { await probe.reached("d loses answer \(number)") }
            if model.isReleased {
                try #require(await test.end() == .stopped, "seed \(seed)")
                try #require(
                    sorted(probe.entries.dropFirst(before)) == sorted(model.entries),
                    "seed \(seed)")
                return false
            }
            // Each event that waited is a job of its own.
            for _ in 0..<8 { await test.calm() }
            try #require(
                sorted(probe.entries.dropFirst(before)) == sorted(model.entries), "seed \(seed)")
            try #require(test.holds == model.shown(stopLeft: stopLeft), "seed \(seed)")
            return true
        }

        for step in Self.schedule(&random) {
            switch step {
            case .background:
                try test.deliver(.background)
                model.background()
            case .foreground:
                try test.deliver(.foreground)
                model.foreground()
            case .stop:
                test.host.stop(because: "the schedule says so")
                stopLeft = stopAll
                model.stop()
            case .end(let number):
                script.shelf.end("hold \(number)")
                model.end(number)
            case .release(let number):
                script.shelf.release("hold \(number)")
                model.end(number)
            case .answer(let number):
                guard model.open.contains(where: { $0.answer == number }) else { continue }
                AnswerProbe.answer(number, of: probe)
                await probe.reached("d ends answer \(number)")
                model.answer(number)
            case .pass(let halfSeconds):
                for _ in 0..<halfSeconds {
                    if let left = stopLeft, left < .milliseconds(500) {
                        test.time.advance(by: .milliseconds(500))
                        let holders = model.open.map(\.module)
                        let named = try (Self.names + ["d"]).filter(holders.contains).map {
                            try ModuleID("x.\($0)")
                        }
                        guard case .overdue(let modules) = await test.end() else {
                            Issue.record("seed \(seed): not overdue")
                            return
                        }
                        #expect(Set(modules) == Set(named) && modules.count == named.count)
                        // What is left is released in no order that matters.
                        let received = probe.entries.dropFirst(before).filter {
                            !$0.hasSuffix("deinit")
                        }
                        #expect(sorted(received) == sorted(model.entries), "seed \(seed)")
                        return
                    }
                    // The lane may look at the clock later than its alarm.
                    test.time.advance(by: .milliseconds(500) - model.earliness)
                    var next = model
                    next.pass()
                    // One that has ended answers nothing.
                    if stopLeft != nil, !next.isReleased { await test.calm() }
                    test.time.advance(by: model.earliness)
                    stopLeft = stopLeft.map { $0 - .milliseconds(500) }
                    model = next
                    guard try await compare() else { return }
                }
            }
            guard try await compare() else { return }
        }
        Issue.record("seed \(seed): the stop has not ended")
    }
}

/// A module whose answers to `background` and `terminate` come when the test gives them, by their numbers.
final class AnswerProbe: AsyncBackgroundResponder, AsyncTerminationResponder {
    static func answer(_ number: Int, of probe: Probe) {
        LateProbe.promise("answer \(number)", of: probe).keep("ends")
    }

    private let probe: Probe
    private var count = 0

    init(context: ModuleContext) throws {
        let name = try context.config(AsyncProbe.Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
    }

    private func handle(_ event: String, isolation: isolated any Actor) async {
        count += 1
        let number = count
        probe.note("d \(event)")
        let answer = LateProbe.promise("answer \(number)", of: probe)
        guard !answer.isKept else { return }
        let text = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.keep("loses")
        }
        probe.note("d \(text) answer \(number)")
    }

    func didEnterBackground(isolation: isolated any Actor) async throws {
        await handle("background", isolation: isolation)
    }

    func willEnterForeground() { probe.note("d foreground") }

    func willTerminate(isolation: isolated any Actor) async throws {
        await handle("terminate", isolation: isolation)
    }
}

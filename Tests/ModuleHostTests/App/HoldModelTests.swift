import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Random schedules of holds, their ends, the passing of time, foreground, background and stop, beside a
/// model that does the same in a few lines.
@Suite("Holds beside a model", .timeLimit(.minutes(10)))
struct HoldModelTests {
    /// A step of a schedule.
    enum Step {
        case background, foreground, stop
        case end(Int)
        case release(Int)
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
            let hasHandler: Bool
            /// Nil where it does not run out.
            var left: Int?
        }

        static let timeLimit = 20

        var entries: [String] = []
        var open: [Hold] = []
        var taken = 0
        var state = LifecycleState.active
        var isWaiting = false
        var hasReceivedEnd = false
        var isReleased = false
        /// How many holds each module takes when it is notified: the same for the host's modules.
        let plan: [[Bool]]

        func takes(_ entry: Int) -> [Bool] { plan[entry % plan.count] }

        mutating func notify(_ event: String) {
            for (index, name) in HoldModelTests.names.enumerated() {
                entries.append("\(name) \(event)")
                guard event == "background" || event == "terminate" else { continue }
                for hasHandler in takes(taken + index) {
                    taken += 1
                    open.append(
                        Hold(
                            module: name, step: event, reason: "hold \(taken)", number: taken,
                            hasHandler: hasHandler, left: Self.timeLimit))
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
                open[index].left = Self.timeLimit
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
            guard state != .terminating else { return }
            background()
            state = .terminating
            isWaiting = true
            goOn()
        }

        mutating func end(_ number: Int) {
            open.removeAll { $0.number == number }
            goOn()
        }

        mutating func pass() {
            for index in open.indices { open[index].left = open[index].left.map { $0 - 1 } }
            for hold in open where hold.left == 0 {
                if hold.hasHandler { entries.append("\(hold.module) loses \(hold.reason)") }
            }
            open.removeAll { $0.left == 0 }
            goOn()
        }

        private mutating func goOn() {
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
                var left = hold.left.map { Duration.milliseconds(500) * $0 }
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
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: steps.append(.background)
            case 2: steps.append(.foreground)
            case 3: steps.append(.end(Int.random(in: 1...9, using: &random)))
            case 4: steps.append(.release(Int.random(in: 1...9, using: &random)))
            default: steps.append(.pass(halfSeconds: Int.random(in: 1...12, using: &random)))
            }
        }
        steps.append(.stop)
        for _ in 0..<12 {
            steps.append(
                Bool.random(using: &random)
                    ? .end(Int.random(in: 1...12, using: &random))
                    : .pass(halfSeconds: Int.random(in: 1...6, using: &random)))
        }
        // By now what is held has run out.
        return steps + [.pass(halfSeconds: 50)]
    }

    @Test("every schedule goes as the model says", arguments: 0..<40)
    func schedule(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let plan = (0..<7).map { _ in
            (0..<Int.random(in: 0...2, using: &random)).map { _ in Bool.random(using: &random) }
        }
        var model = Model(plan: plan)
        let script = Script(plan)
        let probe = Probe("schedule \(seed)")
        for (index, name) in Self.names.enumerated() {
            for step in ["background", "terminate"] {
                probe.when("\(name) \(step)", script.act(index, probe))
            }
        }
        // Never at the same instant as anything else.
        let stopAll = Duration.milliseconds(seed.isMultiple(of: 2) ? 30_250 : 12_250)
        let test = try await HostUnderTest(
            "a", "b", "c",
            top: #""deadlines": {"stopAll": "\#(stopAll.wholeNanoseconds / 1_000_000)ms"}"#,
            probe: probe
        ).launched()
        await test.calm()
        let before = probe.entries.count
        var stopLeft: Duration?

        /// Compares what has happened, and what is held, with the model.
        func compare() async throws -> Bool {
            if model.isReleased {
                try #require(await test.end() == .stopped, "seed \(seed)")
                try #require(
                    Array(probe.entries.dropFirst(before)) == model.entries, "seed \(seed)")
                return false
            }
            await test.calm()
            try #require(Array(probe.entries.dropFirst(before)) == model.entries, "seed \(seed)")
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
            case .pass(let halfSeconds):
                for _ in 0..<halfSeconds {
                    if let left = stopLeft, left < .milliseconds(500) {
                        test.time.advance(by: .milliseconds(500))
                        let holders = model.open.map(\.module)
                        let named = try Self.names.filter(holders.contains).map {
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
                        #expect(received == model.entries, "seed \(seed)")
                        return
                    }
                    test.time.advance(by: .milliseconds(500))
                    stopLeft = stopLeft.map { $0 - .milliseconds(500) }
                    model.pass()
                    guard try await compare() else { return }
                }
            }
            guard try await compare() else { return }
        }
        Issue.record("seed \(seed): the stop has not ended")
    }
}

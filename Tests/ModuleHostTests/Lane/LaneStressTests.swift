import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// Everything at once: threads that deliver, modules that send, throw, come, go and get stuck, some of
/// them for longer than they may.
///
/// What is asserted holds for every interleaving; the seed only varies what the modules do.
@Suite("Lane under stress", .timeLimit(.minutes(10)))
struct LaneStressTests {
    private static let modules = 8
    private static let senders = 4
    private static let rounds = 10
    private static let eventsPerSender = 150

    @Test(
        "every module receives every event once, in order, from one thread at a time",
        arguments: 1...4)
    func everythingAtOnce(seed: Int) async throws {
        let ledger = StressLedger("stress \(seed)", seed: UInt64(seed))
        let ready = Promise<Void>()
        let ended = Promise<AppHost.End>()
        let time = ManualTimeSource()
        let log = LogRecorder()
        let host = AppHost(
            slatefile: try slatefile(of: ledger), stateDirectory: "/nonexistent", log: log.log,
            time: time,
            observer: AppHost.Observer(
                onReady: { _, _, _ in ready.keep(()) }, onEnd: { ended.keep($0) }))
        ledger.watch(host.gate.lane)
        try host.launch()
        await ready.value

        for round in 0..<Self.rounds {
            ledger.closeDoors()
            let calm = try ledger.runClock(time, host.gate.lane, seed: seed * 1000 + round)
            let count = Self.eventsPerSender / Self.rounds
            try await deliver(round * count..<(round + 1) * count, to: host)
            // The clock runs until the lane has gone through everything.
            let settled = Promise<Void>()
            host.onLane { _, _ in settled.keep(()) }
            await settled.value
            ledger.openDoors()
            await calm.value
        }
        host.stop(because: "the test is over")
        #expect(await ended.value == .stopped)
        check(ledger)
    }

    private func slatefile(of ledger: StressLedger) throws -> Slatefile {
        let modules = (0..<Self.modules).map { index in
            """
            {"id": "x.m\(index)", "entry": "ModuleHostTests.StressModule", "backlog": 100000,
             "main": \(index == 0), "config": {"ledger": "\(ledger.name)", "index": \(index)}}
            """
        }
        let text = """
            {"slate": 1, "app": "stress", "deadlines": {"event": "1s", "stop": "1s", "launch": "1s"},
             "modules": [\(modules.joined(separator: ",\n"))]}
            """
        return try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
    }

    /// Has several threads deliver at once, and waits until all are done.
    private func deliver(_ numbers: Range<Int>, to host: AppHost) async throws {
        let all = try (0..<Self.senders).map { sender in
            let done = Promise<Void>()
            let events = try numbers.map {
                try LifecycleEvent.message(topic: "\(sender).\($0)", payload: nil, origin: .host)
            }
            try NativeThread.start(name: "sender") {
                for (number, event) in events.enumerated() {
                    host.deliver(event)
                    if number % 8 == 0 { sched_yield() }
                }
                done.keep(())
            }
            return done
        }
        for done in all { await done.value }
    }

    private func check(_ ledger: StressLedger) {
        #expect(ledger.diagnostics == [])
        let accounts = ledger.accounts
        #expect(accounts.count == Self.modules)
        var positions: [String: UInt64] = [:]
        for (name, received) in accounts {
            #expect(received.count == Self.senders * Self.eventsPerSender, "\(name)")
            #expect(Set(received.map(\.topic)).count == received.count, "\(name)")
            #expect(
                zip(received, received.dropFirst()).allSatisfy { $0.position < $1.position },
                "\(name)")
            for sender in 0..<Self.senders {
                let numbers = received.filter { $0.topic.hasPrefix("\(sender).") }.map(\.number)
                #expect(numbers == Array(0..<Self.eventsPerSender), "\(name), sender \(sender)")
            }
            for entry in received {
                let position = positions[entry.topic, default: entry.position]
                positions[entry.topic] = position
                #expect(position == entry.position, "\(name), \(entry.topic)")
            }
        }
    }
}

protocol StressResponder: AnyObject {
    func nudge(depth: Int) throws
}

final class StressModule: Module, RootProvider, MessageResponder, StressResponder {
    private struct Configuration: Decodable {
        var ledger: String
        var index: Int
    }

    private let context: ModuleContext
    private let ledger: StressLedger
    private let confinement = Confinement()
    private var random: SeededGenerator
    private var received: [StressLedger.Entry] = []
    private var members: [StressMember] = []
    private var ticks = 0

    init(context: ModuleContext) throws {
        self.context = context
        let configuration: Configuration = try context.config()
        guard let ledger = StressLedger.named(configuration.ledger) else { throw TestError() }
        self.ledger = ledger
        random = SeededGenerator(seed: ledger.seed &* 1000 &+ UInt64(configuration.index))
        context.timer(every: .milliseconds(400)) { [unowned self] in
            confinement.inside(self.ledger) { ticks += 1 }
        }
    }

    deinit { ledger.close(context.id.text, received) }

    var topics: [String] { ["*"] }

    var root: String? { nil }

    func receive(_ message: Message) throws {
        try confinement.inside(ledger) {
            let parts = message.topic.split(separator: ".")
            guard let number = parts.last.flatMap({ Int($0) }),
                let position = context.event?.sequence
            else { return ledger.problem("no event in hand") }
            received.append(.init(topic: message.topic, number: number, position: position))
            try act()
        }
    }

    /// Does something that is hard on the lane.
    private func act() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<2: ledger.getStuck()
        case 2..<12:
            context.center.send(to: (any StressResponder).self) { try $0.nudge(depth: 1) }
        case 12..<18:
            let member = StressMember(ledger, confinement)
            members.append(member)
            context.center.add(member)
        case 18..<24:
            if let member = members.popLast() { context.center.remove(member) }
        case 24..<30: throw TestError()
        case 30..<34:
            ledger.getStuck()
            context.center.send(to: (any StressResponder).self) { try $0.nudge(depth: 3) }
        default: break
        }
    }

    func nudge(depth: Int) throws {
        try confinement.inside(ledger) {
            switch Int.random(in: 0..<40, using: &random) {
            case 0: ledger.getStuck()
            case 1: throw TestError()
            case 2..<8 where depth < 3:
                context.center.send(to: (any StressResponder).self) {
                    try $0.nudge(depth: depth + 1)
                }
            default: break
            }
        }
    }
}

/// A member that a module adds to the host's center: it receives what its module receives.
final class StressMember: Module, MessageResponder, StressResponder {
    private let ledger: StressLedger?
    private let confinement: Confinement
    private var last: [Substring: Int] = [:]

    init(_ ledger: StressLedger, _ confinement: Confinement) {
        self.ledger = ledger
        self.confinement = confinement
    }

    init(context: ModuleContext) throws { throw TestError(description: "no module by itself") }

    var topics: [String] { ["*"] }

    func receive(_ message: Message) {
        guard let ledger else { return }
        confinement.inside(ledger) {
            let parts = message.topic.split(separator: ".")
            guard let sender = parts.first, let number = parts.last.flatMap({ Int($0) }) else {
                return
            }
            if number <= last[sender, default: -1] { ledger.problem("a member received it twice") }
            last[sender] = number
        }
    }

    func nudge(depth: Int) {
        guard let ledger else { return }
        confinement.inside(ledger) {}
    }
}

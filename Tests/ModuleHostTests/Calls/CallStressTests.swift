import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// Calls of every kind at once: modules that call each other, callers beside the lane, routes that come
/// and go, and handlers that get stuck, some for longer than they may.
///
/// What is asserted holds for every interleaving; the seed only varies what is called.
@Suite("Calls under stress", .timeLimit(.minutes(10)))
struct CallStressTests {
    private static let modules = 6
    private static let callers = 4
    private static let rounds = 6
    private static let callsPerRound = 12

    @Test(
        "every call is answered once, with its own sum, and every post is delivered",
        arguments: 1...4)
    func everythingAtOnce(seed: Int) async throws {
        let ledger = StressLedger("calls \(seed)", seed: UInt64(seed))
        let (ready, ended) = (Promise<Void>(), Promise<AppHost.End>())
        let time = ManualTimeSource()
        let host = AppHost(
            slatefile: try slatefile(of: ledger), stateDirectory: "/nonexistent",
            log: LogRecorder().log, time: time,
            observer: AppHost.Observer(
                onReady: { _, _, _ in ready.keep(()) }, onEnd: { ended.keep($0) }))
        ledger.watch(host.gate.lane)
        try host.launch()
        await ready.value

        for round in 0..<Self.rounds {
            ledger.closeDoors()
            let calm = try ledger.runClock(time, host.gate.lane, seed: seed * 1000 + round)
            await withTaskGroup { group in
                for caller in 0..<Self.callers {
                    let seed = UInt64(seed * 10_000 + round * 100 + caller)
                    group.addTask { await call(host, ledger, caller, seed) }
                }
            }
            await settle(host)
            ledger.openDoors()
            await calm.value
        }
        // What was stuck has returned; what that has posted and called comes to its end.
        let idle = Promise<Void>()
        host.onLaneWhenIdle { _ in idle.keep(()) }
        await idle.value
        host.stop(because: "the test is over")
        #expect(await ended.value == .stopped)
        #expect(ledger.diagnostics == [])
        let posts = ledger.posts
        for (module, received) in ledger.accounts {
            #expect(received.map(\.topic).sorted() == posts, "\(module)")
        }
        #expect(ledger.accounts.count == Self.modules)
        #expect(!posts.isEmpty)
    }

    private func settle(_ host: AppHost) async {
        let settled = Promise<Void>()
        host.onLane { _, _ in settled.keep(()) }
        await settled.value
    }

    private func slatefile(of ledger: StressLedger) throws -> Slatefile {
        let modules = (0..<Self.modules).map { index in
            """
            {"id": "x.m\(index)", "entry": "ModuleHostTests.CallStressModule", "backlog": 100000,
             "main": \(index == 0), "config": {"ledger": "\(ledger.name)", "index": \(index)}}
            """
        }
        let text = """
            {"slate": 1, "app": "stress", "schemes": ["s"],
             "deadlines": {"event": "1s", "stop": "1s", "launch": "1s"},
             "modules": [\(modules.joined(separator: ",\n"))]}
            """
        return try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
    }

    /// Calls from beside the lane, by action, by URL and as from outside, and waits for each reply.
    private func call(_ host: AppHost, _ ledger: StressLedger, _ caller: Int, _ seed: UInt64) async
    {
        var random = SeededGenerator(seed: seed)
        guard let (router, mediator) = await lines(of: host) else {
            return ledger.problem("no line")
        }
        for _ in 0..<Self.callsPerRound {
            let target = Int.random(in: 0..<Self.modules, using: &random)
            let (left, right) = (
                Int.random(in: 0..<1000, using: &random), Int.random(in: 0..<1000, using: &random)
            )
            do {
                let sum =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0:
                        try await mediator.perform(
                            "x.m\(target)", "sum", ["left": left, "right": right], as: Int.self)
                    case 1:
                        try await router.value(
                            for: "s://x.m\(target)/sum?left=\(left)&right=\(right)", as: Int.self)
                    default: try await outside(host, target, left, right, ledger)
                    }
                if sum != left + right { ledger.problem("\(left) + \(right) is not \(sum)") }
            } catch {
                ledger.expect(error)
            }
        }
    }

    private func lines(of host: AppHost) async -> (AsyncRouter, AsyncMediator)? {
        await withCheckedContinuation { continuation in
            host.onLane { app, _ in
                let context = app.records[0].context
                continuation.resume(
                    returning: context.map { ($0.router.offLane, $0.mediator.offLane) })
            }
        }
    }

    private func outside(
        _ host: AppHost, _ target: Int, _ left: Int, _ right: Int, _ ledger: StressLedger
    ) async throws -> Int {
        let json = try await withCheckedThrowingContinuation { continuation in
            host.call(
                "x.m\(target)", "sum", ["left": left, "right": right],
                origin: .control(uid: 1000, pid: 1), token: nil
            ) { reply in
                // To resume a continuation twice would be a trap.
                continuation.resume(with: reply)
            }
        }
        guard case .json(let text) = json else { return -1 }
        return try JSONValue(parsing: text).decode(Int.self)
    }
}

extension StressLedger {
    /// Takes an error for what it may be: a module is overdue, or nested too deep, or a route is gone.
    fileprivate func expect(_ error: any Error) {
        switch error {
        case RouteError.overdue, RouteError.tookTooLong, RouteError.tooDeep: break
        case ServiceError.overdue, ServiceError.lost, ServiceError.tooDeep, ServiceError.cycle:
            break
        case let failure as HandlerFailure:
            // What a handler's own call met, in words.
            let words = "\(failure.error)"
            let known = ["unresponsive", "deep", "need each other"]
            if !known.contains(where: words.contains) { problem("\(error)") }
        default: problem("\(error)")
        }
    }
}

private protocol StressService {
    func add(_ left: Int, _ right: Int) throws -> Int
}

private struct StressNumbers: Sendable { var index: Int }

/// A module that answers with sums, calls others while it does, and posts what it did.
final class CallStressModule: RoutedModule, MessageResponder, StressResponder, RootProvider {
    private struct Configuration: Decodable {
        var ledger: String
        var index: Int
    }

    struct Sum: Decodable {
        var left: Int
        var right: Int
    }

    static var routes: [Route<CallStressModule>] {
        [
            Route("sum", access: .public) {
                $0.left >= 0
            } handler: {
                (module, request: Sum, call) in
                try module.inside {
                    try module.act()
                    return request.left + request.right
                }
            }
        ]
    }

    private let context: ModuleContext
    private let ledger: StressLedger
    private let index: Int
    private let confinement = Confinement()
    private var random: SeededGenerator
    private var received: [StressLedger.Entry] = []
    private var posted = 0
    private var depth = 0

    init(context: ModuleContext) throws {
        self.context = context
        let configuration: Configuration = try context.config()
        guard let ledger = StressLedger.named(configuration.ledger) else { throw TestError() }
        self.ledger = ledger
        index = configuration.index
        random = SeededGenerator(seed: ledger.seed &* 1000 &+ UInt64(index))
        if index == 0 {
            try context.services.register((any StressService).self) { [unowned self] in
                inside { Service(owner: self) }
            }
            try context.services.register(StressNumbers.self, lifetime: .eachTime) {
                [unowned self] in
                try inside {
                    try act()
                    return StressNumbers(index: 0)
                }
            }
        }
    }

    deinit { ledger.close(context.id.text, received) }

    /// Lives in its module, and is called there.
    private final class Service: StressService {
        private unowned let owner: CallStressModule

        init(owner: CallStressModule) { self.owner = owner }

        func add(_ left: Int, _ right: Int) throws -> Int {
            try owner.inside {
                try owner.act()
                return left + right
            }
        }
    }

    var root: String? { nil }
    var topics: [String] { ["*"] }

    func receive(_ message: Message) {
        inside {
            received.append(.init(topic: message.topic, number: received.count, position: 0))
            do {
                switch Int.random(in: 0..<60, using: &random) {
                case 0: ledger.getStuck()
                case 1..<8: try act()
                default: break
                }
            } catch {
                ledger.expect(error)
            }
        }
    }

    func nudge(depth: Int) { inside {} }

    private func inside<Result>(_ body: () throws -> Result) rethrows -> Result {
        try confinement.inside(ledger) {
            depth += 1
            defer { depth -= 1 }
            return try body()
        }
    }

    /// Does one of the things that a module does in a call.
    private func act() throws {
        guard depth < 3 else { return }
        let other = Int.random(in: 0..<6, using: &random)
        let (left, right) = (
            Int.random(in: 0..<1000, using: &random), Int.random(in: 0..<1000, using: &random)
        )
        var sum = left + right
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<2: ledger.getStuck()
        case 2..<8:
            sum = try context.mediator.perform(
                "x.m\(other)", "sum", ["left": left, "right": right], as: Int.self)
        case 8..<11:
            sum = try context.router.value(
                for: "s://x.m\(other)/sum?left=\(left)&right=\(right)", as: Int.self)
        case 11..<14:
            sum = try context.services.call((any StressService).self) { try $0.add(left, right) }
        case 14: _ = try context.services.resolve(StressNumbers.self)
        case 15: context.center.send(to: (any StressResponder).self) { try $0.nudge(depth: 1) }
        case 16..<18:
            posted += 1
            try ledger.post("m\(index).\(posted)", by: context)
        case 18..<20:
            try context.router.add(
                Route("extra/:left") { (module: CallStressModule, call) in module.index })
            if !context.router.remove("extra/:left") { ledger.problem("a route was not there") }
        case 20:
            context.mediator.perform("x.m\(other)", "sum", ["left": left, "right": right]) {
                [unowned self] result in
                inside {
                    do {
                        if try result.get() as? Int != left + right { ledger.problem("a sum") }
                    } catch {
                        ledger.expect(error)
                    }
                }
            }
        default: break
        }
        if sum != left + right { ledger.problem("\(left) + \(right) is not \(sum)") }
    }
}

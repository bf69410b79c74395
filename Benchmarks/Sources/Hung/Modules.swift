import Dispatch
import ModuleHost
import Served
import Synchronization

/// Notes when it receives a tick.
final class ListeningModule: MessageResponder, RootProvider {
    struct Configuration: Decodable, Sendable {
        var number: Int
    }

    let topics = ["tick"]
    private let number: Int

    init(context: ModuleContext) throws {
        number = try context.config(Configuration.self).number
    }

    var root: String? { nil }

    func receive(_ message: Message) {
        if let tick = message.payload?.int { ReceivedTicks.note(tick, by: number) }
    }
}

/// Receives ticks, and hangs for ever when a message asks for it.
final class HangingModule: MessageResponder {
    let topics = ["tick", "hang"]
    private let lock = DispatchSemaphore(value: 0)

    init(context: ModuleContext) {}

    func receive(_ message: Message) {
        guard message.topic == "hang" else { return }
        if message.payload?.string == "lock" { lock.wait() }
        while true {}
    }
}

/// The time at which each module received each tick.
enum ReceivedTicks {
    /// How many modules listen.
    static let modules = 9

    private struct Tick {
        var count = 0
        var last = 0
    }

    private static let table = Mutex([Tick](repeating: Tick(), count: 2 * ticks + 1))
    private static let counts = Mutex([Int](repeating: 0, count: modules))

    static func note(_ tick: Int, by module: Int) {
        let now = nanoseconds()
        table.withLock {
            $0[tick].count += 1
            $0[tick].last = now
        }
        counts.withLock { $0[module] += 1 }
    }

    static func byAll(_ tick: Int) -> Bool { table.withLock { $0[tick].count == modules } }
    static func last(of tick: Int) -> Int { table.withLock { $0[tick].last } }
    static func count(of module: Int) -> Int { counts.withLock { $0[module] } }
}

import ModuleHost
import Served
import Synchronization

/// An ordinary module, in the host: notes when it receives each tick.
final class ListeningModule: RootProvider, MessageResponder {
    struct Configuration: Decodable, Sendable {
        /// 0 for the one before all others, 1 for the one behind them.
        var place: Int
    }

    let topics = ["tick"]
    private let place: Int

    init(context: ModuleContext) throws {
        place = try context.config(Configuration.self).place
    }

    var root: String? { nil }

    func receive(_ message: Message) {
        if let tick = message.payload?.int { ReceivedTicks.note(tick, at: place) }
    }
}

/// The ticks that the ordinary modules have received.
enum ReceivedTicks {
    static let places = 2

    struct Record: Sendable {
        /// When each tick was received; zero for not yet.
        var times: [Int] = []
        /// How many came a second time, or before an earlier one.
        var disorders = 0
    }

    private static let records = Mutex([Record](repeating: Record(), count: places))

    static func note(_ tick: Int, at place: Int) {
        let now = nanoseconds()
        records.withLock { records in
            if tick < records[place].times.count { records[place].disorders += 1 }
            while records[place].times.count <= tick { records[place].times.append(0) }
            records[place].times[tick] = now
        }
    }

    static func record(of place: Int) -> Record { records.withLock { $0[place] } }
    static func count(at place: Int) -> Int { records.withLock { $0[place].times.count } }
}

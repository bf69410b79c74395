/// The job that begins a stop, when everything accepted before it is done or dropped.
final class StopJob: LaneJob {
    private let begin: @Sendable (LaneThread) -> Void

    init(_ begin: @escaping @Sendable (LaneThread) -> Void) { self.begin = begin }

    var limit: DeliveryLimit { .stop }

    func run(on thread: LaneThread, after slot: UInt16) { begin(thread) }
}

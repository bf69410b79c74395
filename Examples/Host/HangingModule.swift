import Dispatch
import ModuleHost

/// Hangs on command, in the ways in which modules hang in life; and counts the pushes that it receives.
///
/// By URL, as in `hostd open 'example://com.example.hanging/hang/sleep?seconds=5'`; or by a message, as in
/// `hostd post hang '{"how": "lock"}'`.
///
/// Do not send it such a message through the inbox: a host that died meanwhile would deliver it again,
/// and hang again, until it has died of it three times.
final class HangingModule: MessageResponder, RemoteNotificationResponder, RoutedModule {
    /// A way to hang.
    enum Way: String, Codable, Sendable {
        /// Waits, as for an answer from far away.
        case sleep
        /// Waits for a lock that is never released.
        case lock
        /// Works, and keeps a core busy.
        case spin
    }

    struct Order: Codable, Sendable {
        var how: Way
        /// For how long, where it ends at all.
        var seconds: Int?
    }

    let topics = ["hang"]

    private let log: Log
    private let lock = DispatchSemaphore(value: 0)
    private var pushes = 0

    init(context: ModuleContext) { log = context.log }

    static var routes: [Route<HangingModule>] {
        [
            Route("hang/:how", access: .public, summary: "Hangs.") {
                (module, order: Order, call) in
                module.hang(order)
            },
            Route("pushes", access: .public, summary: "How many pushes it has received.") {
                (module, call) in
                module.pushes
            },
        ]
    }

    func receive(_ message: Message) throws {
        if let order = try message.payload?.decode(Order.self) { hang(order) }
    }

    func didReceiveRemoteNotification(_ notification: RemoteNotification) -> FetchResult {
        pushes += 1
        return .newData
    }

    private func hang(_ order: Order) {
        let end = DispatchTime.now() + .seconds(order.seconds ?? 3)
        log.notice("hanging: \(order.how.rawValue)")
        switch order.how {
        case .sleep: _ = lock.wait(timeout: end)
        case .lock: lock.wait()
        case .spin: while DispatchTime.now() < end {}
        }
        log.notice("returning, having received \(pushes) pushes")
    }
}

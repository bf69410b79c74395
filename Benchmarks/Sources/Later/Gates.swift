import Synchronization

/// The place where code waits until all of it is let go.
enum Gates {
    private static let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// The number of pieces of code that wait.
    static var count: Int { waiting.withLock { $0.count } }

    static func reserve(_ count: Int) { waiting.withLock { $0.reserveCapacity(count) } }

    static func pass() async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append(continuation) }
        }
    }

    static func open() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in all { continuation.resume() }
    }
}

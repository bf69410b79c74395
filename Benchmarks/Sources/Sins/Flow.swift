import Foundation
import Served
import Synchronization

/// Who sends a durable event again and again, on a thread of its own.
final class Flow: Sendable {
    private struct State {
        /// When each tick was sent.
        var sent: [Int] = []
        var accepted = 0
        var error: String?
        var isOver = false
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: The host's control socket.
    ///   - rate: Events a second.
    /// - Throws: Where no host is there.
    init(to path: String, rate: Int) throws {
        let client = try HandedOver(value: Client(path))
        Thread.detachNewThread { [self] in
            do {
                try send(to: client.value, rate)
            } catch {
                state.withLock { $0.error = "\(error)" }
            }
            state.withLock { $0.hasEnded = true }
        }
    }

    var sent: [Int] { state.withLock { $0.sent } }
    var count: Int { state.withLock { $0.sent.count } }
    var accepted: Int { state.withLock { $0.accepted } }
    var error: String? { state.withLock { $0.error } }

    /// Sends no more, and waits for what is owed.
    func stop() {
        state.withLock { $0.isOver = true }
        while !state.withLock({ $0.hasEnded }) { usleep(1000) }
    }

    private func send(to client: Client, _ rate: Int) throws {
        let began = nanoseconds()
        while !state.withLock({ $0.isOver }) {
            let tick = count
            try receive(from: client, until: began + tick * (1_000_000_000 / rate))
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"event":"message","payload":{"topic":"tick","payload":\#(tick)}}}"#
                + "\n"
            state.withLock { $0.sent.append(nanoseconds()) }
            try client.send(Array(line.utf8))
        }
        let end = nanoseconds() + 30_000_000_000
        while accepted < count {
            guard nanoseconds() < end else { throw Failure("\(accepted) of \(count) accepted") }
            try receive(from: client, until: nanoseconds() + 10_000_000)
        }
    }

    /// Takes answers until a time.
    private func receive(from client: Client, until end: Int) throws {
        while true {
            let left = end - nanoseconds()
            guard left > 0 else { return }
            var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32((left + 999_999) / 1_000_000)) > 0 else { return }
            let bytes = try client.read()
            if bytes.firstIndex(of: #""error""#) != nil {
                throw Failure("refused: \(String(decoding: bytes, as: UTF8.self))")
            }
            state.withLock { $0.accepted += bytes.count { $0 == UInt8(ascii: "\n") } }
        }
    }
}

/// A value that one thread at a time has.
///
/// `@unchecked Sendable`: the thread that hands it over does not touch it any more.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value
}

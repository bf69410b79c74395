import Foundation
import Served

/// Clients that send durable events at a given rate, on one thread.
///
/// One event in twenty has an id, and one in a thousand has that of one before.
final class Senders {
    /// How many answers one client may be owed.
    private static let window = 256

    private let clients: [Client]
    private var polled: [pollfd]
    private var owed: [Int]
    /// What each was answered and has no end yet.
    private var answers: [[UInt8]]
    private var sent = 0
    private(set) var accepted = 0
    private(set) var duplicates = 0

    init(count: Int, at path: String) throws {
        clients = try (0..<count).map { _ in try Client(path) }
        polled = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        owed = clients.map { _ in 0 }
        answers = clients.map { _ in [] }
    }

    /// Sends until a time, so many in all by then, evenly.
    func send(until end: Int, total: Int, from began: Int) throws {
        while true {
            let now = nanoseconds()
            guard now < end else { return }
            let due = min(total, total * (now - began) / (end - began))
            try sendDue(due - sent)
            // A group of events each millisecond, as many clients make it together.
            try receive(milliseconds: 1)
        }
    }

    /// Waits for what is owed.
    func finish() throws {
        let end = nanoseconds() + 60_000_000_000
        while owed.contains(where: { $0 > 0 }) {
            guard nanoseconds() < end else { throw Failure("the host does not answer any more") }
            try receive(milliseconds: 100)
        }
    }

    /// What the host says of its inbox when all is delivered.
    func account() throws -> InboxAccount {
        try clients[0].send(
            Array(
                (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"event":"local-notification","payload":{"title":"last"},"wait":true}}"#
                    + "\n").utf8))
        _ = try clients[0].receiveLine()
        try clients[0].send(Array((#"{"jsonrpc":"2.0","id":1,"method":"status"}"# + "\n").utf8))
        let answer = try JSONDecoder().decode(
            Answer.self, from: Data(try clients[0].receiveLine()))
        return answer.result.inbox
    }

    private struct Answer: Decodable {
        struct Status: Decodable { let inbox: InboxAccount }
        let result: Status
    }

    private func sendDue(_ count: Int) throws {
        guard count > 0 else { return }
        let share = (count + clients.count - 1) / clients.count
        var rest = count
        for index in clients.indices where rest > 0 {
            let part = min(share, rest, Self.window - owed[index])
            guard part > 0 else { continue }
            var lines: [UInt8] = []
            for _ in 0..<part { lines += nextLine().utf8 }
            try clients[index].send(lines)
            owed[index] += part
            rest -= part
        }
    }

    private func nextLine() -> String {
        sent += 1
        // One of fifty with an id is an earlier one, sent again.
        let number = sent.isMultiple(of: 1000) ? sent - 980 : sent
        let id = sent.isMultiple(of: 20) ? #","id":"order-\#(number)""# : ""
        return
            #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"event":"push","payload":{"aps":{"alert":"Hello","badge":\#(number % 100)}}\#(id)}}"#
            + "\n"
    }

    private func receive(milliseconds: Int32) throws {
        let began = nanoseconds()
        repeat {
            let left = Int(milliseconds) - (nanoseconds() - began) / 1_000_000
            guard poll(&polled, nfds_t(polled.count), Int32(max(0, left))) > 0 else { return }
            for (index, entry) in polled.enumerated() where entry.revents != 0 {
                try take(clients[index].read(), index)
            }
        } while nanoseconds() - began < Int(milliseconds) * 1_000_000
    }

    private func take(_ received: UnsafeRawBufferPointer, _ index: Int) throws {
        answers[index] += received
        guard let end = answers[index].lastIndex(of: UInt8(ascii: "\n")) else { return }
        let count = answers[index].count { $0 == UInt8(ascii: "\n") }
        let doubled = try answers[index].withUnsafeBytes { bytes in
            guard bytes.firstIndex(of: #""error""#) == nil else {
                throw Failure("refused: \(String(decoding: bytes, as: UTF8.self))")
            }
            let lines = UnsafeRawBufferPointer(rebasing: bytes[...end])
            var (doubled, start) = (0, 0)
            while let place = lines.firstIndex(of: #""duplicate""#, from: start) {
                doubled += 1
                start = place + 1
            }
            return doubled
        }
        answers[index].removeFirst(end + 1)
        owed[index] -= count
        accepted += count - doubled
        duplicates += doubled
    }
}

/// What a host says of its inbox.
struct InboxAccount: Decodable {
    let accepted: Int
    let done: Int
    let rejected: Int
    let duplicates: Int
    let pendingBytes: Int
}

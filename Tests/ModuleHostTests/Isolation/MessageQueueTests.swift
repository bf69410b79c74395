import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Message queue", .timeLimit(.minutes(10)))
struct MessageQueueTests {
    /// What is done with a queue.
    enum Step {
        /// The process says something; with a number of bytes.
        case say(String, bytes: Int = 1)
        /// The process answers a request.
        case answer(Int)
        /// The process has ended.
        case end
        /// An exchange begins with the request of this number.
        case begin(Int)
        /// The innermost exchange is over.
        case finish
        /// The next message is taken, without waiting.
        case take
    }

    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        /// The messages that were reported or taken, in order.
        let seen: [String]
        var isFull = false

        init(_ description: String, _ steps: [Step], _ seen: [String], isFull: Bool = false) {
            (testDescription, self.steps, self.seen) = (description, steps, seen)
            self.isFull = isFull
        }
    }

    private static let end = ProcessExit(
        processID: 7, cause: .itself, exit: .code(0), lastLines: [])

    /// What is seen of a queue with room for four messages and a hundred bytes.
    private func seen(after steps: [Step]) -> (seen: [String], isFull: Bool) {
        let seen = LockedList<String>()
        let queue = MessageQueue(MessageQueue.Limits(messages: 4, bytes: 100)) {
            seen.append("announced")
        } resume: {
            seen.append("room")
        }
        for step in steps {
            switch step {
            case .say(let name, let bytes):
                if !queue.add(.said(name), bytes: bytes) { seen.append("refused") }
            case .answer(let number):
                if !queue.add(.answer(number, .success(.emptyObject)), bytes: 1) {
                    seen.append("refused")
                }
            case .end: queue.end(Self.end)
            case .begin(let number): queue.beginExchange(number)
            case .finish: queue.endExchange()
            case .take: seen.append(queue.next(until: nil).text)
            }
        }
        return (seen.values, queue.isFull)
    }

    // MARK: Order and announcements

    static let orders = [
        Row(
            "in the order in which it was said, answers too",
            [
                .begin(1), .say("a"), .answer(1), .say("b"), .take, .take, .say("c"), .take, .take,
                .take, .say("d"), .take,
            ],
            ["a", "answer 1", "b", "c", "nothing", "d"]),
        Row("news", [.say("a")], ["announced"]),
        Row("news to which more comes", [.say("a"), .say("b"), .end], ["announced"]),
        Row(
            "who takes takes until there is nothing",
            [.say("a"), .say("b"), .take, .say("c"), .take, .take, .say("d")],
            ["announced", "a", "b", "c"]),
        Row(
            "news after there was nothing",
            [.say("a"), .take, .take, .say("b")], ["announced", "a", "nothing", "announced"]),
        Row("an exchange takes what comes", [.begin(1), .say("a"), .answer(1), .end], []),
        Row(
            "an exchange that leaves nothing",
            [.begin(1), .say("a"), .answer(1), .take, .take, .finish], ["a", "answer 1"]),
        Row(
            "an exchange that leaves something",
            [.begin(1), .answer(1), .say("a"), .take, .finish, .say("b")],
            ["answer 1", "announced"]),
        Row(
            "an exchange in an exchange that leaves something to the outer one",
            [.begin(1), .begin(2), .answer(2), .say("a"), .take, .finish, .take, .finish],
            ["answer 2", "a"]),
        Row(
            "exchanges that both leave something",
            [.begin(1), .begin(2), .say("a"), .finish, .say("b"), .finish], ["announced"]),
        Row(
            "an exchange beside news that are known",
            [.say("a"), .begin(1), .say("b"), .finish], ["announced"]),
        Row("the end is news", [.end], ["announced"]),
        Row(
            "the end is news, too, where all else is known",
            [.say("a"), .take, .take, .end], ["announced", "a", "nothing", "announced"]),
        Row(
            "the end in an exchange that does not see it", [.begin(1), .end, .finish], ["announced"]
        ),
        Row(
            "the end comes after all that was said, and stays",
            [.begin(1), .say("a"), .end, .take, .take, .take], ["a", "end", "end"]),
    ]

    @Test("the messages that are reported and taken", arguments: orders)
    func order(row: Row) {
        #expect(seen(after: row.steps).seen == row.seen)
    }

    // MARK: Answers

    static let answers = [
        Row("nothing was asked", [.answer(1), .take], ["refused", "nothing"]),
        Row("something else was asked", [.begin(1), .answer(2), .take], ["refused", "nothing"]),
        Row(
            "twice", [.begin(1), .answer(1), .answer(1), .take, .take],
            ["refused", "answer 1", "nothing"]),
        Row(
            "twice, the second time when the first is taken",
            [.begin(1), .answer(1), .take, .answer(1), .take], ["answer 1", "refused", "nothing"]),
        Row(
            "of two questions both, whichever first",
            [.begin(1), .begin(2), .answer(1), .answer(2), .take, .take], ["answer 1", "answer 2"]),
        Row("a refused one is no news", [.answer(1), .say("a")], ["refused", "announced"]),
    ]

    @Test("an answer is taken once, and only where a caller waits for it", arguments: answers)
    func answer(row: Row) {
        #expect(seen(after: row.steps).seen == row.seen)
    }

    // MARK: Room

    /// In an exchange, so that nothing is announced.
    static let rooms = [
        Row("three of four", [.begin(1), .say("a"), .say("b"), .say("c")], []),
        Row("four", [.begin(1), .say("a"), .say("b"), .say("c"), .say("d")], [], isFull: true),
        Row(
            "four, one taken",
            [.begin(1), .say("a"), .say("b"), .say("c"), .say("d"), .take], ["a"], isFull: true),
        Row(
            "four, half of them taken",
            [.begin(1), .say("a"), .say("b"), .say("c"), .say("d"), .take, .take, .take],
            ["a", "room", "b", "c"]),
        Row(
            "taken ones do not count",
            [.begin(1), .say("a"), .say("b"), .say("c"), .take, .say("d")], ["a"]),
        Row(
            "an answer counts",
            [.begin(1), .say("a"), .say("b"), .say("c"), .answer(1)], [], isFull: true),
        Row("99 bytes", [.begin(1), .say("a", bytes: 60), .say("b", bytes: 39)], []),
        Row(
            "100 bytes", [.begin(1), .say("a", bytes: 60), .say("b", bytes: 40)], [], isFull: true),
        Row(
            "100 bytes, half of them taken",
            [.begin(1), .say("a", bytes: 50), .say("b", bytes: 50), .take, .take],
            ["room", "a", "b"]),
        Row(
            "100 bytes, less than half taken",
            [.begin(1), .say("a", bytes: 49), .say("b", bytes: 51), .take], ["a"], isFull: true),
        Row(
            "full stays full until half of it is taken",
            [.begin(1), .say("a", bytes: 40), .say("b", bytes: 60), .take, .say("c"), .take],
            ["a", "room", "b"]),
        Row(
            "one that is too much for itself",
            [.begin(1), .say("a", bytes: 1000), .say("b"), .take, .take], ["room", "a", "b"]),
        Row(
            "full twice",
            [
                .begin(1), .say("a", bytes: 100), .take, .say("b", bytes: 100), .take, .take,
            ], ["room", "a", "room", "b", "nothing"]),
    ]

    @Test("full at a limit, until half of it is taken", arguments: rooms)
    func room(row: Row) {
        let (seen, isFull) = seen(after: row.steps)
        #expect(seen == row.seen)
        #expect(isFull == row.isFull)
    }
}

extension MessageQueue.Message {
    static func said(_ name: String) -> Self {
        .request(RPCRequest(method: name, parameters: nil), id: nil)
    }
}

extension MessageQueue.Next {
    var text: String {
        switch self {
        case .message(.request(let request, _)): request.method
        case .message(.answer(let number, _)): "answer \(number)"
        case .end: "end"
        case .nothing: "nothing"
        }
    }
}

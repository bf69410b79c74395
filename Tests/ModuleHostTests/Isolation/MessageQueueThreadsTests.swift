import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// What one thread says and another takes.
@Suite("Message queue between threads", .timeLimit(.minutes(10)))
struct MessageQueueThreadsTests {
    private static let end = ProcessExit(
        processID: 7, cause: .itself, exit: .code(0), lastLines: [])

    private static func queue() -> MessageQueue {
        MessageQueue(MessageQueue.Limits()) {
        } resume: {
        }
    }

    @Test("a time that is over is no wait, and leaves nothing behind")
    func pastDeadline() {
        let queue = Self.queue()
        for _ in 0..<2 {
            #expect(queue.next(until: .now()).text == "nothing")
            #expect(queue.add(.said("a"), bytes: 1))
            #expect(queue.next(until: .now()).text == "a")
        }
        #expect(queue.next(until: .now()).text == "nothing")
    }

    @Test("who waits is woken by each message, and by the end")
    func wakes() async throws {
        let (there, back) = (Self.queue(), Self.queue())
        let patience = DispatchTime.now() + .seconds(60)
        let echoed = Promise<[String]>()
        try NativeThread.start(name: "echo") {
            var seen: [String] = []
            while true {
                let next = there.next(until: patience)
                seen.append(next.text)
                guard case .message(let message) = next else { break }
                _ = back.add(message, bytes: 1)
            }
            echoed.keep(seen)
        }
        // The other thread is asleep whenever this one is faster, and the other way round.
        let names = (0..<500).map { "\($0)" }
        for name in names {
            _ = there.add(.said(name), bytes: 1)
            try #require(back.next(until: patience).text == name)
        }
        there.end(Self.end)
        #expect(await echoed.value == names + ["end"])
    }

    /// The two threads of a module: one reads a process, the other asks it things and takes its mail.
    private final class Talk: Sendable {
        static let questions = 2000
        static let sayings = 10_000

        let queue: MessageQueue
        let mail: DispatchSemaphore
        let room: DispatchSemaphore
        let asked = DispatchSemaphore(value: 0)

        init() {
            let (mail, room) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            (self.mail, self.room) = (mail, room)
            queue = MessageQueue(MessageQueue.Limits(messages: 16, bytes: 1 << 20)) {
                mail.signal()
            } resume: {
                room.signal()
            }
        }

        /// Whether the process says something more right behind an answer: while the exchange ends.
        static func hasPostscript(_ number: Int) -> Bool { number.isMultiple(of: 3) }

        /// - Returns: How many answers were refused.
        func read() -> Int {
            var answered = 0
            var refused = 0
            func answer() {
                answered += 1
                if !queue.add(.answer(answered, .success(.emptyObject)), bytes: 1) { refused += 1 }
                if Self.hasPostscript(answered) { _ = queue.add(.said("postscript"), bytes: 1) }
            }
            for number in 0..<Self.sayings {
                while queue.isFull { room.wait() }
                _ = queue.add(.said("\(number)"), bytes: 1)
                if answered < Self.questions, asked.wait(timeout: .now()) == .success { answer() }
            }
            while answered < Self.questions {
                asked.wait()
                answer()
            }
            queue.end(MessageQueueThreadsTests.end)
            return refused
        }
    }

    /// What the thread that asks has seen.
    private struct Asking {
        let talk: Talk
        /// When nothing more will come: a message or an announcement is lost.
        let patience = DispatchTime.now() + .seconds(60)
        var generator = SeededGenerator(seed: 4)
        var sayings: [String] = []
        var postscripts = 0
        var answers = 0
        var hasEnded = false

        mutating func run() {
            for number in 1...Talk.questions {
                exchange(number)
                guard Talk.hasPostscript(number) else { continue }
                let before = postscripts
                while postscripts == before, takeMail() {}
            }
            while !hasEnded, takeMail() {}
        }

        private mutating func exchange(_ number: Int) {
            talk.queue.beginExchange(number)
            defer { talk.queue.endExchange() }
            talk.asked.signal()
            let before = answers
            while answers == before, .now() < patience {
                let deadline: DispatchTime? =
                    switch UInt8.random(in: 0..<4, using: &generator) {
                    case 0: nil
                    case 1: .now()
                    // As long as the other thread takes: the end of a wait and a message meet.
                    case 2: .now() + .microseconds(20)
                    default: patience
                    }
                _ = take(until: deadline)
            }
        }

        /// Takes what comes unasked.
        ///
        /// - Returns: False where none was announced.
        private mutating func takeMail() -> Bool {
            guard talk.mail.wait(timeout: patience) == .success else { return false }
            while take(until: nil) {}
            return true
        }

        /// - Returns: Whether there may be more.
        private mutating func take(until deadline: DispatchTime?) -> Bool {
            switch talk.queue.next(until: deadline) {
            case .message(.request(let request, _)) where request.method == "postscript":
                postscripts += 1
            case .message(.request(let request, _)): sayings.append(request.method)
            case .message(.answer): answers += 1
            case .nothing: return false
            case .end:
                hasEnded = true
                return false
            }
            return true
        }
    }

    @Test("nothing is lost, nothing overtakes, and no thread waits for ever")
    func stress() async throws {
        let talk = Talk()
        let refused = Promise<Int>()
        let asked = Promise<Asking>()
        try NativeThread.start(name: "reader") { refused.keep(talk.read()) }
        try NativeThread.start(name: "module") {
            var asking = Asking(talk: talk)
            asking.run()
            asked.keep(asking)
        }
        let asking = await asked.value
        try #require(asking.hasEnded)
        #expect(asking.answers == Talk.questions)
        #expect(asking.postscripts == (1...Talk.questions).count(where: Talk.hasPostscript))
        #expect(asking.sayings == (0..<Talk.sayings).map { "\($0)" })
        #expect(await refused.value == 0)
    }
}

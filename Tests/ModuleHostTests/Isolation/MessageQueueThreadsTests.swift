import Dispatch
import TestSupport
import Testing

@testable import ModuleHost

/// What one thread says and another takes.
@Suite("Message queue between threads", .timeLimit(.minutes(5)))
struct MessageQueueThreadsTests {
    private static let end = ModuleEnd(
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
        let rounds = 500
        let echoed = Promise<[String]>()
        try NativeThread.start(name: "echo") {
            var seen: [String] = []
            while true {
                let next = there.next(until: .distantFuture)
                seen.append(next.text)
                guard case .message(let message) = next else { break }
                _ = back.add(message, bytes: 1)
            }
            echoed.keep(seen)
        }
        // The other thread is asleep whenever this one is faster, and the other way round.
        let names = (0..<rounds).map { "\($0)" }
        for name in names {
            _ = there.add(.said(name), bytes: 1)
            #expect(back.next(until: .distantFuture).text == name)
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

        /// - Returns: How many answers were refused.
        func read() -> Int {
            var answered = 0
            var refused = 0
            for number in 0..<Self.sayings {
                while queue.isFull { room.wait() }
                _ = queue.add(.said("\(number)"), bytes: 1)
                if answered < Self.questions, asked.wait(timeout: .now()) == .success {
                    answered += 1
                    if !queue.add(.answer(answered, .success(.emptyObject)), bytes: 1) {
                        refused += 1
                    }
                }
            }
            while answered < Self.questions {
                asked.wait()
                answered += 1
                if !queue.add(.answer(answered, .success(.emptyObject)), bytes: 1) { refused += 1 }
            }
            queue.end(MessageQueueThreadsTests.end)
            return refused
        }

        /// - Returns: What was said, in order, and how many questions were answered.
        func ask() -> (sayings: [String], answers: Int) {
            var generator = SeededGenerator(seed: 4)
            var sayings: [String] = []
            var answers = 0
            for number in 1...Self.questions {
                queue.beginExchange(number)
                asked.signal()
                exchange: while true {
                    let deadline: DispatchTime? =
                        switch UInt8.random(in: 0..<4, using: &generator) {
                        case 0: nil
                        case 1: .now()
                        // As long as the other thread takes: the end of a wait and a message meet.
                        case 2: .now() + .microseconds(20)
                        default: .distantFuture
                        }
                    switch queue.next(until: deadline) {
                    case .message(.answer(number, _)):
                        answers += 1
                        break exchange
                    case .message(.answer), .end: break exchange
                    case .message(.request(let request, _)): sayings.append(request.method)
                    case .nothing: continue
                    }
                }
                queue.endExchange()
            }
            // What comes unasked: without an announcement this waits for ever.
            while true {
                mail.wait()
                taking: while true {
                    switch queue.next(until: nil) {
                    case .message(.request(let request, _)): sayings.append(request.method)
                    case .message(.answer): answers += 1
                    case .nothing: break taking
                    case .end: return (sayings, answers)
                    }
                }
            }
        }
    }

    @Test("nothing is lost, nothing overtakes, and nobody waits for ever")
    func stress() async throws {
        let talk = Talk()
        let refused = Promise<Int>()
        let taken = Promise<(sayings: [String], answers: Int)>()
        try NativeThread.start(name: "reader") { refused.keep(talk.read()) }
        try NativeThread.start(name: "module") { taken.keep(talk.ask()) }
        #expect(await refused.value == 0)
        let (sayings, answers) = await taken.value
        #expect(answers == Talk.questions)
        #expect(sayings == (0..<Talk.sayings).map { "\($0)" })
    }
}

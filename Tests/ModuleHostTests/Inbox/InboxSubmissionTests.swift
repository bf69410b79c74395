import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Events that are handed to the inbox", .timeLimit(.minutes(10)))
struct InboxSubmissionTests {
    @Test("more than may wait to be written is refused at once, and says so")
    func full() throws {
        let folder = try TemporaryFolder()
        var limits = Inbox.Limits()
        limits.waiting = 1
        let inbox = try Inbox(
            InboxFolder(in: StateDirectory(path: folder.path)), limits, box: nil,
            log: LogRecorder().log, time: ManualTimeSource())
        let answers = LockedList<String>()
        // Its thread is not started: nothing is taken. The first has room, however large it is.
        for id in ["a", "b"] {
            inbox.submit(
                InboxSubmission(line: HostUnderTest.push(id), id: id) { acceptance in
                    if case .failed(let error) = acceptance { answers.append("\(id): \(error)") }
                })
        }
        let bytes = HostUnderTest.push("a").count
        #expect(answers.values == ["b: \(InboxRefusal.full(bytes: bytes))"])
    }
}

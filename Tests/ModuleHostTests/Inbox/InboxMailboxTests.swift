import Testing

@testable import ModuleHostCore

/// The requests to the thread of the inbox.
@Suite("Mailbox of the inbox")
struct InboxMailboxTests {
    private static let (first, second) = (ModuleID(checked: "x.a"), ModuleID(checked: "x.b"))

    private func submission(
        _ name: String, id: String? = nil, of sender: ModuleID? = nil
    ) -> InboxSubmission {
        InboxSubmission(line: Array(name.utf8), id: id, of: sender) { _ in }
    }

    private func names(_ letters: InboxMailbox.Letters) -> [String] {
        letters.submissions.map { String(decoding: $0.line, as: UTF8.self) }
    }

    @Test(
        "until ids can be looked up, those with one wait, and what their modules submit behind them"
    )
    func order() throws {
        let mailbox = try InboxMailbox()
        for submission in [
            submission("a1", of: Self.first), submission("a2", id: "2", of: Self.first),
            submission("a3", of: Self.first), submission("b1", of: Self.second),
            submission("x", id: "x"), submission("y"),
        ] {
            #expect(mailbox.add(submission, limit: 1000) == nil)
        }
        let letters = mailbox.take(withIDs: false)
        #expect(names(letters) == ["a1", "b1", "y"])
        #expect(letters.isWaitedFor)
        #expect(mailbox.add(submission("a4", of: Self.first), limit: 1000) == nil)
        #expect(names(mailbox.take(withIDs: false)) == [])
        #expect(names(mailbox.take(withIDs: true)) == ["a2", "a3", "x", "a4"])
        #expect(!mailbox.take(withIDs: true).isWaitedFor)
    }
}

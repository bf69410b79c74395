import Testing

@testable import ModuleHostCore

@Suite("InboxError")
struct InboxErrorTests {
    @Test(
        "the error for a sender, for an answer that is a refusal already, and for the host's log",
        arguments: [
            (
                InboxError.notAccepted(FileError("write", "x", .noSpace)),
                "cannot write 'x': No space left on device; not accepted: free space on this disk, "
                    + "then send again",
                "cannot write 'x': No space left on device: free space on this disk, then send again",
                "cannot write 'x': No space left on device: free space on this disk"
            ),
            (
                .notAccepted(FileError("write", "x", .quotaExceeded)),
                "cannot write 'x': Disk quota exceeded; not accepted: free space of this user's quota "
                    + "on this disk, then send again",
                "cannot write 'x': Disk quota exceeded: free space of this user's quota on this disk, "
                    + "then send again",
                "cannot write 'x': Disk quota exceeded: free space of this user's quota on this disk"
            ),
            (
                .notAccepted(FileError("write", "x", SystemError(code: 5))),
                "cannot write 'x': Input/output error; not accepted",
                "cannot write 'x': Input/output error",
                "cannot write 'x': Input/output error"
            ),
            (
                .notAccepted(FileError("open", "x", .tooManyOpenFiles)),
                "cannot open 'x': Too many open files; not accepted: "
                    + "let this process have more open files (ulimit -n)",
                "cannot open 'x': Too many open files: "
                    + "let this process have more open files (ulimit -n)",
                "cannot open 'x': Too many open files: "
                    + "let this process have more open files (ulimit -n)"
            ),
            (
                .batchTooLarge(bytes: 7), "7 bytes are too many at once; not accepted",
                "7 bytes are too many at once", "7 bytes are too many at once"
            ),
            // A cursor, for example: no program has sent anything.
            (
                .unusable(FileError("write", "x", .noSpace)),
                "cannot write 'x': No space left on device: free space on this disk",
                "cannot write 'x': No space left on device: free space on this disk",
                "cannot write 'x': No space left on device: free space on this disk"
            ),
        ])
    func texts(error: InboxError, toSender: String, refusal: String, problem: String) {
        #expect(error.description == toSender)
        #expect(error.refusal == refusal)
        #expect(error.problem == problem)
    }
}

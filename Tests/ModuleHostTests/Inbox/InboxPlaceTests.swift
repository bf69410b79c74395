import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// The folder of the inbox, or one above it, is moved under a running host.
@Suite("An inbox that is moved", .timeLimit(.minutes(10)))
struct InboxPlaceTests {
    private static let problem =
        "is not the folder that this host has opened: it or a folder above it was moved, removed or "
        + "replaced; put it back, or start the host again"

    /// The error that a sender receives.
    private static func refusal(_ test: HostUnderTest, _ id: String? = nil) async -> String? {
        let refusal = Promise<String?>()
        test.submit(id) { fate in
            if case .failed(let error) = fate {
                refusal.keep("\(error)")
            } else {
                refusal.keep(nil)
            }
        }
        return await refusal.value
    }

    @Test(
        "nothing is accepted, nothing goes into what takes its place, and it goes on when it is back",
        arguments: ["state/inbox", "state", "."])
    func moved(what: String) async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        try makeFolders(folder.path("here/state"))
        let state = TemporaryFolder(at: folder.path("here/state"))
        let test = try await HostUnderTest.durable("a", in: state, probe: probe).launched()
        let inbox = InboxFolder(in: StateDirectory(path: state.path))
        _ = await test.outcome("first")
        let path = what == "." ? "here" : "here/\(what)"
        try folder.move(path, to: "away")
        if what != "." {
            // No program has to send anything.
            _ = await test.recorder.first(containing: "cannot use the inbox: ")
        }
        #expect(
            await Self.refusal(test)?.hasPrefix("'\(inbox.path)' is not the folder that") == true)
        // Another host, or another program, begins there.
        try inbox.make()
        let text = "\n\(String(decoding: HostUnderTest.push("theirs"), as: UTF8.self))\n"
        try writeFile(text.utf8, to: inbox.path(ofSegment: 1), mode: 0o600)
        try writeFile([], to: inbox.path(ofSegment: 7), mode: 0o600)
        let names = try namesInFolder(inbox.path).sorted()
        for id in ["x", "theirs", "first"] {
            #expect(await Self.refusal(test, id) != nil || id == "first")
        }
        test.time.advance(by: .seconds(60))
        await test.settled()
        #expect(probe.received("a").count == 1)
        #expect(try namesInFolder(inbox.path).sorted() == names)
        #expect(
            try readFile(at: inbox.path(ofSegment: 1), limit: 1000) == Array(text.utf8))
        #expect(try readFile(at: inbox.path(ofSegment: 7), limit: 1000) == [])
        #expect(
            test.recorder.messages.filter { $0.contains(inbox.path) }
                == ["cannot use the inbox: '\(inbox.path)' \(Self.problem)"])
        // It is put back.
        try folder.move(path, to: "theirs")
        try folder.move("away", to: path)
        _ = await test.outcome("second")
        #expect(probe.received("a").count == 2)
        #expect(test.recorder.messages.contains("can use the inbox again"))
        #expect(test.inbox?.metrics.withLock { $0.problem } == nil)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a host that stops then leaves no cursor in what has taken its place")
    func stopped() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome("first")
        try folder.move("inbox", to: "away")
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        try inbox.make()
        #expect(await test.stopped() == .stopped)
        #expect(try namesInFolder(inbox.path).sorted() == ["00000001.ndjson", "inbox.lock"])
    }

    @Test("the status says it as well")
    func metrics() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome("first")
        try folder.move("inbox", to: "away")
        #expect(await Self.refusal(test) != nil)
        #expect(
            test.inbox?.currentFigures().problem
                == "cannot use the inbox: '\(folder.path("inbox"))' \(Self.problem)")
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a link in its place is followed where the host's user or root made it, and else refused",
        .enabled("only root can make a link of another user's") { geteuid() == 0 })
    func link() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("elsewhere"))
        try #require(symlink("elsewhere", folder.path("inbox")) == 0)
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        try inbox.make()
        #expect(try namesInFolder(folder.path("elsewhere")).count == 2)
        try #require(lchown(folder.path("inbox"), 65_534, 65_534) == 0)
        let error = #expect(throws: InboxError.self) { try inbox.make() }
        #expect(
            error?.description
                == "cannot open '\(inbox.path)': user 65534 made this symbolic link, "
                + "which is not followed: remove it")
    }
}

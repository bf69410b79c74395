import Glibc
import ModuleHost
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import TestSupport
import Testing

/// `hostd send` with real hosts: up, down, and in between.
@Suite("hostd send: with hosts", .timeLimit(.minutes(10)))
struct SendRunTests {
    private static let push = ["push", "--payload", #"{"aps":{"badge":3}}"#]
    private static let isLeft = ": no host is ready; the next one delivers it\n"
    private static let hour = #"{"event": "1h", "launch": "1h", "stop": "1h", "stopAll": "1h"}"#

    @Test("what is accepted while no host runs is delivered by the next one, in order")
    func down() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let first = try folder.send(Self.push + ["--id", "a1"])
        #expect(first.output == "accepted 1:1: no host is ready; the next one delivers it\n")
        #expect(first.error == "")
        #expect(first.exit == .code(0))
        let again = try folder.send(Self.push + ["--id", "a1"])
        #expect(again.output == "already there: id a1\n")
        #expect(again.exit == .code(0))
        let duplicate = try folder.send(Self.push + ["--id", "a1", "--json"])
        #expect(duplicate.output == #"{"id":"a1","duplicate":true}"# + "\n")
        try folder.write("{\"topic\":\n\"x\"}", to: "message.json")
        let second = try folder.send(
            ["message", "--payload", "-", "--json"], input: "message.json")
        let place = try #require(
            try JSONValue(parsing: second.output)["position"]?.string)
        #expect(second.output == #"{"id":"\#(place)","position":"\#(place)","left":true}"# + "\n")

        let run = try HostdRun(nil, in: folder).ready()
        // Delivered, but to no module that does more than observe.
        #expect(try folder.send(Self.push + ["--wait"]).exit == .code(1))
        #expect(try run.terminated().exit == .code(0))
        let events = try run.journaledEvents().filter { $0 == "push" || $0 == "message" }
        #expect(events == ["push", "message", "push"])
    }

    @Test("another event with the id of an earlier one: 64, whether a host runs or not")
    func otherContents() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let first = ["push", "--payload", #"{"aps":{},"n":3}"#, "--id", "a1"]
        #expect(try folder.send(first).exit == .code(0))
        let others = [
            ["push", "--payload", #"{"aps":{},"n":4711}"#],
            ["message", "--payload", #"{"topic":"x"}"#],
        ]
        let reason =
            "the id 'a1' was used for an event with other contents, at 1:1: give each event an id of its "
            + "own\n"
        for other in others {
            let refused = try folder.send(other + ["--id", "a1"])
            #expect(refused.exit == .code(64))
            #expect(refused.output == "")
            #expect(refused.error == "hostd send: " + reason)
        }
        let run = try HostdRun(nil, in: folder).ready()
        for other in others + others.map({ $0 + ["--wait"] }) {
            let refused = try folder.send(other + ["--id", "a1"])
            #expect(refused.exit == .code(64))
            #expect(refused.output == "")
            #expect(refused.error == "hostd send: Invalid params: /id: " + reason)
        }
        let spelled = ["push", "--payload", #"{ "n": 30e-1, "aps": {} }"#, "--id", "a1"]
        #expect(try folder.send(spelled).output == "already there: id a1\n")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents().filter { $0 == "push" || $0 == "message" } == ["push"])
        #expect(try run.hostd("inbox", "--json").output.contains(#""deadLetters":{"count":0,"#))
    }

    @Test("what needs a host is refused while none runs, and nothing is written")
    func needsHost() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let state = try folder.send(["background"])
        #expect(state.exit == .code(69))
        #expect(
            state.error == """
                hostd send: no host runs on the state directory '.hostd'
                start one with 'hostd run'; one that has another state directory is found by --state-dir or $STATE_DIRECTORY

                """)
        let waiting = try folder.send(Self.push + ["--wait"])
        #expect(waiting.exit == .code(69))
        #expect(
            waiting.error == """
                hostd send: no host runs on the state directory '.hostd'
                start one with 'hostd run'; one that has another state directory is found by --state-dir or $STATE_DIRECTORY
                or leave out '--wait': the next host delivers it

                """)
        #expect(folder.names == ["slatefile.json"])
    }

    @Test("a folder that no host would ever read: 69")
    func nowhere() throws {
        let folder = try TemporaryFolder()
        let outcome = try folder.send(Self.push)
        #expect(outcome.exit == .code(69))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd send: there is neither a state directory '.hostd' nor a slatefile \
                'slatefile.json': no host would ever deliver it
                name them with --state-dir or --slatefile

                """)
        #expect(folder.names == [])
        try makeFolders(folder.path("there"))
        #expect(try folder.send(Self.push + ["--state-dir", "there"]).exit == .code(0))
    }

    @Test("a host that runs: accepted, delivered, duplicate, state events")
    func up() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let accepted = try run.folder.send(Self.push)
        #expect(accepted.output == "accepted 1:1\n")
        let delivered = try run.folder.send(Self.push + ["--id", "a1", "--wait", "--json"])
        let json = try JSONValue(parsing: delivered.output)
        #expect(json["id"]?.string == "a1")
        #expect(json["outcome"]?["delivered"]?.int == 1)
        #expect(json["outcome"]?["failed"]?.int == 0)
        let again = try run.folder.send(Self.push + ["--id", "a1", "--wait"])
        #expect(again.output == "already there: id a1\n")
        #expect(again.exit == .code(0))
        let state = try run.folder.send(["background", "--wait"])
        #expect(state.output == "delivered\n")
        #expect(try run.journaledEvents().suffix(2) == ["resign-active", "background"])

        let status = try run.hostd("status")
        let position = try #require(
            try JSONValue(parsing: run.hostd("status", "--json").output)["inbox"]?["position"]?
                .string)
        #expect(
            status.output.contains(
                "\ninbox         position \(position), 0 bytes pending, 2 accepted, 2 done, "
                    + "0 dead letters, 1 duplicate\n"))
        #expect(!status.output.contains("\nproblem"))
    }

    @Test("who waits is answered when the module has returned, and not before")
    func waiting() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let wait = try HostProcess(["send"] + Self.push + ["--wait"], in: run.folder.path)
        while try run.countPending() != 1 {}
        #expect(wait.textSoFar(.output) == "")
        pipe.empty()
        let outcome = try wait.waitForExit()
        #expect(outcome.output == "accepted 1:1: no module responds to 'push'\n")
        #expect(outcome.exit == .code(1))
    }

    @Test("a waiting sender is notified where the host stops before it comes to the event")
    func left() throws {
        let (run, pipe) = try FullPipe.run(Self.hour, isFull: true)
        try run.process.waitForLine(containing: " runs 'test' of ")
        let wait = try HostProcess(["send"] + Self.push + ["--wait"], in: run.folder.path)
        while try run.countPending() != 1 {}
        run.process.send(SIGTERM)
        // Once it stops it takes nothing more, and this is left to the next one.
        while try !run.folder.send(Self.push).output.hasSuffix(Self.isLeft) {}
        pipe.empty()
        let outcome = try wait.waitForExit()
        #expect(outcome.exit == .code(75))
        #expect(outcome.output == "accepted 1:1" + Self.isLeft)
        #expect(outcome.error == "")
        #expect(try run.ended().exit == .code(0))
        #expect(try #require(try run.countPending()) >= 2)
    }

    @Test("a host that has no socket yet: what can be is accepted, the rest is refused")
    func starting() throws {
        let folder = try TemporaryFolder()
        let claim = try PidFile(claiming: StateDirectory(path: folder.path(".hostd")))
        let accepted = try folder.send(Self.push)
        #expect(accepted.output == "accepted 1:1: no host is ready; the next one delivers it\n")
        for arguments in [["background"], Self.push + ["--wait"]] {
            let refused = try folder.send(arguments)
            #expect(refused.exit == .code(75))
            #expect(
                refused.error
                    == "hostd send: the host (process \(CurrentProcess.id)) on the state directory "
                    + "'.hostd' is starting or stopping, or its socket was removed; try again, or stop it "
                    + "with 'kill -TERM \(CurrentProcess.id)'\n")
        }
        withExtendedLifetime(claim) {}
    }

    @Test(
        "a disk that takes no more: 74, and nothing of it is left", .enabled(if: !isSanitized))
    func full() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        #expect(try folder.send(Self.push).exit == .code(0))
        let before = try folder.text(of: ".hostd/inbox/00000001.ndjson")
        let outcome = try HostProcess.run(
            ["-c", #"ulimit -f 0; exec "$0" "$@""#, HostProcess.hostd, "send"] + Self.push,
            program: "/bin/sh", in: folder.path)
        #expect(outcome.exit == .code(74))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd send: cannot write '.hostd/inbox/00000001.ndjson': File too large; not accepted: \
                let this process write larger files (ulimit -f)

                """)
        #expect(try folder.text(of: ".hostd/inbox/00000001.ndjson") == before)
    }

    @Test(
        "a disk that is full for the host: the sender and the log receive the reason, once each",
        .enabled(if: !isSanitized))
    func fullForHost() throws {
        // In blocks of 512 bytes.
        let run = try HostdRun(HostdRun.slatefile(), shell: "ulimit -f 2").ready()
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 2000))"}}"#
        let outcome = try run.hostd("send", "push", "--payload", payload)
        let what =
            "cannot write '.hostd/inbox/00000001.ndjson': File too large: let this process "
            + "write larger files (ulimit -f)"
        #expect(outcome.exit == .code(74))
        #expect(outcome.error == "hostd send: not accepted: \(what)\n")
        let line = try run.process.waitForLine(containing: "cannot accept events: ")
        #expect(line.hasSuffix("cannot accept events: \(what)"))
        _ = try run.terminated()
    }

    @Test(
        "another user's: 77, whether a host runs or not", .enabled(if: CurrentProcess.userID == 0))
    func otherUser() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try #require(chmod(run.folder.path, 0o755) == 0)
        let directory = run.folder.path(".hostd")
        let refused =
            "hostd send: the host on the state directory '\(directory)' is another user's; only that "
            + "user and root may control it\n"
        for _ in 0..<2 {
            let outcome = try HostProcess.run(
                ["send"] + Self.push + ["--state-dir", directory], userID: 65534)
            #expect(outcome.exit == .code(77))
            #expect(outcome.error == refused)
            _ = try run.terminated()
        }
    }

    // The leak checker does not look into a process that has changed its user.
    @Test(
        "what root sends belongs to the owner of the state directory",
        .enabled(if: CurrentProcess.userID == 0 && !isSanitized))
    func root() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path(".hostd")
        try makeFolders(directory)
        try #require(chmod(folder.path, 0o755) == 0)
        try #require(chown(directory, 65534, 65534) == 0)
        #expect(try folder.send(Self.push).exit == .code(0))
        for name in ["inbox", "inbox/inbox.lock", "inbox/00000001.ndjson"] {
            var status = stat()
            try #require(stat("\(directory)/\(name)", &status) == 0)
            #expect(status.st_uid == 65534)
            #expect(status.st_gid == 65534)
        }
    }
}

extension HostdRun {
    /// How many events the inbox has that are not done.
    func countPending() throws -> Int? {
        let outcome = try hostd("inbox", "--json")
        guard outcome.exit == .code(0) else { return nil }
        return try JSONValue(parsing: outcome.output)["pending"]?["count"]?.int
    }
}

import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Durable events that a process sends: they need the disk, and not the lane.
@Suite("Modules of other processes: durable events that they send", .timeLimit(.minutes(10)))
struct ModuleSendsTests {
    private let probe = Probe()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A program that sends `count` events at once when the file `go` is there, with the numbers and ids 1, 2 …, and
    /// writes what is answered into the file `answers`.
    private func entry(sending count: Int, _ more: String = "") throws -> HostUnderTest.Entry {
        try folder.write(
            """
            while [ ! -e '\(folder.path)/go' ]; do :; done
            n=0
            while [ $n -lt \(count) ]; do
                n=$((n+1))
                echo '{"jsonrpc":"2.0","id":'$n',"method":"send","params":{"event":"message","payload":{"topic":"t"},"id":"e'$n'","source":"here"\(more)}}'
            done
            """, to: "sends")
        return HostUnderTest.Entry(
            name: "b",
            command: ShellModule.command(
                "x.b", declaring: #","events":["message"],"topics":["t"]"#,
                start: "sh '\(folder.path)/sends' &",
                cases: """
                    *'"method"'*'"source":"here"'*) result=null; echo heard >>'\(folder.path)/heard' ;;
                    *'"method"'*) result=null ;;
                    *) printf '%s\\n' "$line" >>'\(folder.path)/answers'; continue ;;
                    """))
    }

    private func launched(
        sending count: Int, _ more: String = ""
    ) async throws -> HostUnderTest {
        probe.when("a message") { [probe] module in
            let event = module.context.event
            probe.note("a \(event?.id ?? "") from \(event?.source ?? "nowhere")")
        }
        return try await HostUnderTest(
            [HostUnderTest.Entry(name: "a"), entry(sending: count, more)], folder: folder,
            processes: .quick, probe: probe
        ).launched()
    }

    private static func lines(_ name: String, in folder: TemporaryFolder) throws -> [String] {
        guard fileExists("\(folder.path)/\(name)") else { return [] }
        // What has no newline yet is half a line.
        return try folder.text(of: name).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    private func answers(_ count: Int) async throws -> [JSONValue] {
        let deadline = ContinuousClock.now + HostProcess.patience
        while try Self.lines("answers", in: folder).count < count, .now < deadline {
            await Task.yield()
        }
        return try Self.lines("answers", in: folder).map { try JSONValue(parsing: $0) }
    }

    @Test("they are accepted in order while the lane is held, and delivered with their source")
    func offTheLane() async throws {
        let host = try await launched(sending: 20)
        let answered = Atomic(0)
        let folder = folder
        try await withCheckedThrowingContinuation { continuation in
            host.host.onLane { _, _ in
                continuation.resume(
                    with: Result {
                        try folder.write("", to: "go")
                        let deadline = ContinuousClock.now + .seconds(60)
                        while try Self.lines("answers", in: folder).count < 20, .now < deadline {}
                        answered.store(
                            try Self.lines("answers", in: folder).count, ordering: .relaxed)
                    })
            }
        }
        #expect(answered.load(ordering: .relaxed) == 20)
        let answers = try await answers(20)
        #expect(answers.map { $0["id"]?.int } == Array(1...20))
        #expect(answers.map { $0["result"]?["id"]?.string } == (1...20).map { "e\($0)" })
        let positions = answers.compactMap {
            $0["result"]?["position"]?.string.flatMap { EventPosition($0) }
        }
        #expect(positions.count == 20 && positions == positions.sorted())
        _ = await host.outcome("last")
        await host.settled()
        #expect(
            probe.entries("a").filter { $0.hasPrefix("a e") }
                == (1...20).map { "a e\($0) from here" })
        #expect(await host.stopped() == .stopped)
        #expect(try Self.lines("heard", in: folder).count == 20)
    }

    @Test("with 'wait' each is answered when it is delivered")
    func waiting() async throws {
        let host = try await launched(sending: 3, #","wait":true"#)
        try folder.write("", to: "go")
        let answers = try await answers(3)
        #expect(Set(answers.compactMap { $0["result"]?["id"]?.string }) == ["e1", "e2", "e3"])
        #expect(answers.allSatisfy { $0["result"]?["position"]?.string != nil })
        #expect(answers.allSatisfy { $0["result"]?["outcome"]?["delivered"]?.int == 2 })
        #expect(
            probe.entries("a").filter { $0.hasPrefix("a e") }
                == (1...3).map { "a e\($0) from here" })
        #expect(await host.stopped() == .stopped)
    }

    @Test("with 'wait' they count as unanswered until they are delivered")
    func waitingIsBounded() async throws {
        let host = try await launched(sending: 1030, #","wait":true"#)
        let held = AsyncStream<Void>.makeStream()
        host.host.onLane { [folder] _, _ in
            held.continuation.finish()
            // The lane delivers nothing as long as it is here.
            while !fileExists("\(folder.path)/end") {}
        }
        for await _ in held.stream {}
        try folder.write("", to: "go")
        let refused = try await answers(6)
        #expect(refused.map { $0["error"]?["code"]?.int } == Array(repeating: -32004, count: 6))
        #expect(
            refused[0]["error"]?["message"]?.string?.hasPrefix(
                "1024 events of this module wait for ") == true)
        try folder.write("", to: "end")
        let all = try await answers(1030)
        #expect(all.dropFirst(6).allSatisfy { $0["result"]?["outcome"] != nil })
        #expect(await host.stopped() == .stopped)
    }

    @Test("a process may have 1024 on their way to the disk; more are refused, and it is read on")
    func tooMany() async throws {
        let host = try await launched(sending: 1030)
        // As a program that writes into the inbox by itself, and takes its time.
        let lock = try Descriptor(lockFile: "\(folder.path)/inbox/inbox.lock")
        while try !lock.tryLock(.exclusive) { await Task.yield() }
        try folder.write("", to: "go")
        let refused = try await answers(6)
        #expect(refused.map { $0["error"]?["code"]?.int } == Array(repeating: -32004, count: 6))
        #expect(refused.map { $0["id"]?.int } == Array(1025...1030))
        #expect(
            refused[0]["error"]?["message"]?.string
                == "1024 events of this module, or 8 MiB of them, wait for the disk; send more when these are answered"
        )
        _ = consume lock
        let all = try await answers(1030)
        #expect(all.dropFirst(6).map { $0["id"]?.int } == Array(1...1024))
        #expect(all.dropFirst(6).allSatisfy { $0["result"]?["position"] != nil })
        #expect(await host.stopped() == .stopped)
    }
}

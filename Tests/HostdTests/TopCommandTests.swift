import Glibc
import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd top", .timeLimit(.minutes(10)))
struct TopCommandTests {
    @Test(
        "one table of the running host, also where stdout is not a terminal",
        arguments: [true, false])
    func once(isAsked: Bool) throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        _ = try run.hostd("send", "push", "--payload", "{}", "--wait")
        let words = ["top", "--interval", "1ms", "--sort", "failures"]
        let outcome = try HostProcess.run(
            words + (isAsked ? ["--once"] : []), in: run.folder.path)
        #expect(outcome.exit == .code(0) && outcome.error == "")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[0].hasPrefix("test: active, up "))
        #expect(lines[1] == "2 modules: 1 failed, 1 running; sorted by failures")
        #expect(lines[2].hasPrefix("MODULE    STATE         EV/S LANE%    P99 BEHIND FAILED"))
        #expect(lines[3].hasPrefix("x.journal failed "))
        #expect(lines[3].hasSuffix("      1      1        -        -"))
        #expect(lines[4].hasPrefix("x.main    running "))
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("no host: 69; a wrong column or time: 64")
    func refused() throws {
        let folder = try TemporaryFolder()
        #expect(try HostProcess.run(["top"], in: folder.path).exit == .code(69))
        for wrong in [["--sort", "size"], ["--interval", "0s"], ["--interval", "1"], ["x"]] {
            let outcome = try HostProcess.run(["top"] + wrong, in: folder.path)
            #expect(outcome.exit == .code(64), "\(wrong)")
        }
    }
}

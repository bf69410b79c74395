import AppService
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Child processes")
struct ChildProcessTests {
    /// As in a host: a write without a reader is an error.
    init() { Signals.turnIntoErrors() }

    /// A child, and how it ends.
    private struct Child {
        let process: ChildProcess

        init(
            _ command: [String], environment: [String: String] = ["PATH": "/usr/bin:/bin"],
            in folder: String? = nil
        ) throws {
            process = try ChildProcess.start(command, environment: environment, in: folder)
        }

        init(shell script: String) throws { try self.init(["/bin/sh", "-c", script]) }

        /// All that it prints, up to the end.
        func text() -> String { readToEnd(process.output.number) }
        func errorText() -> String { readToEnd(process.error.number) }
    }

    @Test("what is written is its input, and the end of that is the end")
    func echo() throws {
        let child = try Child(["/bin/cat"])
        #expect(try child.process.write(Array("a\nb".utf8)[...]) == 3)
        child.process.closeInput()
        #expect(child.text() == "a\nb")
        #expect(child.process.waitForExit() == .code(0))
        #expect(throws: SystemError.brokenPipe) { try child.process.write([1]) }
    }

    @Test(
        "how it ended",
        arguments: [
            ("exit 3", ChildProcess.Exit.code(3), "ended with code 3"),
            ("kill -SEGV $$", .signal(SIGSEGV), "was killed by SIGSEGV"),
            ("kill -34 $$", .signal(34), "was killed by signal 34"),
        ])
    func exit(script: String, exit: ChildProcess.Exit, text: String) throws {
        let child = try Child(shell: script)
        #expect(child.process.waitForExit() == exit)
        #expect("\(exit)" == text)
    }

    @Test("it has ended when its descriptor can be read, and not before")
    func end() throws {
        let child = try Child(["/bin/cat"])
        var set = PollSet()
        let end = set.insert(child.process.end.number, .reading)
        let isEarly = set.wait(milliseconds: 0)
        #expect(!isEarly)
        #expect(child.process.exit() == nil)
        child.process.closeInput()
        set.wait(milliseconds: 60_000)
        #expect(set.isReady(end))
        #expect(child.process.exit() == .code(0))
        #expect(child.process.exit() == .code(0))
    }

    @Test("it has ended, too, where other code of this process has reaped it")
    func reapedByOthers() throws {
        let child = try ChildProcess.start(["/bin/sh", "-c", "exit 3"], environment: [:])
        #expect(waitpid(child.processID, nil, 0) == child.processID)
        #expect(child.exit() == .unknown)
        #expect(child.waitForExit() == .unknown)
    }

    @Test("a process without an owner is killed and reaped")
    func forgotten() throws {
        var child: Child? = try Child(["/bin/cat"])
        let number = try #require(child?.process.processID)
        child = nil
        #expect(waitpid(number, nil, WNOHANG) == -1)
        #expect(errno == ECHILD)
    }

    @Test("its variables are those given")
    func environment() throws {
        let child = try Child(["/usr/bin/env"], environment: ["B": "2 x", "A": "1"])
        #expect(child.text() == "A=1\nB=2 x\n")
    }

    @Test("it begins with no signal blocked or ignored, in a group of its own")
    func signals() throws {
        // Two signals are the C library's own, and always ignored.
        let child = try Child(
            shell: "grep -E '^Sig(Blk|Ign)' /proc/self/status | sed s/180000000$/000000000/; "
                + "cut -d ' ' -f 1,5 /proc/$$/stat")
        let number = child.process.processID
        #expect(
            child.text() == """
                SigBlk:\t0000000000000000
                SigIgn:\t0000000000000000
                \(number) \(number)

                """)
    }

    @Test("it has the three descriptors and no other, whatever this process was started with")
    func descriptors() throws {
        // Not closed on `exec`, as what a parent leaves open.
        let inherited = dup(2)
        defer { close(inherited) }
        let child = try Child(shell: "ls /proc/$$/fd")
        #expect(child.text() == "0\n1\n2\n")
    }

    @Test("it runs in the folder given")
    func folder() throws {
        let folder = try TemporaryFolder()
        let child = try Child(["/bin/pwd"], in: folder.path)
        #expect(child.text().hasSuffix("\(folder.path)\n"))
    }

    @Test("in a folder it has the variables given and no other, as it is started without a shell")
    func environmentInFolder() throws {
        let folder = try TemporaryFolder()
        let child = try Child(["/usr/bin/env"], environment: ["A": "1"], in: folder.path)
        #expect(child.text() == "A=1\n")
    }

    @Test("a name is searched in PATH, and a relative path begins in the folder")
    func search() throws {
        let folder = try TemporaryFolder()
        #expect(symlink("/bin/pwd", "\(folder.path)/own") == 0)
        #expect(try Child(["./own"], in: folder.path).text().hasSuffix("\(folder.path)\n"))
        let child = try Child(["own"], environment: ["PATH": "/bin:\(folder.path)"], in: "/")
        #expect(child.text() == "/\n")
        #expect(throws: SystemError.notFound) {
            try Child(["own"], environment: ["PATH": "/bin"], in: folder.path)
        }
    }

    @Test("a program or a folder that is missing is an error, and not the end of a process")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SystemError.notFound) { try Child(["./none"], in: folder.path) }
        #expect(throws: SystemError.accessDenied) { try Child(["/etc/passwd"], in: folder.path) }
        #expect(throws: SystemError.notFound) {
            try Child(["/bin/pwd"], in: folder.path + "/none")
        }
    }

    @Test("stdout and stderr are apart")
    func streams() throws {
        let child = try Child(shell: "echo out; echo err >&2")
        #expect(child.text() == "out\n")
        #expect(child.errorText() == "err\n")
    }

    @Test("what it started ends with it")
    func grandchild() throws {
        let child = try Child(shell: "sleep 1000 & exit 7")
        #expect(child.process.waitForExit() == .code(7))
        // The grandchild holds the pipe: without its end this would not end.
        #expect(child.text() == "")
    }

    @Test("a signal goes to all of its group")
    func signalToGroup() throws {
        let child = try Child(
            shell: "trap : TERM; sh -c 'echo ready; exec sleep 1000'; echo over; read x")
        #expect(read(child.process.output.number, until: "ready\n") == "ready\n")
        child.process.signal(SIGTERM)
        // The shell does not heed it; what it waits for does, and the shell goes on.
        #expect(read(child.process.output.number, until: "over\n") == "over\n")
        child.process.signal(SIGKILL)
        #expect(child.process.waitForExit() == .signal(SIGKILL))
        child.process.signal(SIGKILL)
    }

    @Test("input that it does not read is taken as far as there is room")
    func full() throws {
        let child = try Child(shell: "exec sleep 1000")
        let bytes = [UInt8](repeating: 0x61, count: 1 << 20)
        let taken = try child.process.write(bytes[...])
        #expect((1..<bytes.count).contains(taken))
        #expect(try child.process.write(bytes[...]) == 0)
        child.process.signal(SIGKILL)
        _ = child.process.waitForExit()
        #expect(throws: SystemError.brokenPipe) { try child.process.write(bytes[...]) }
    }

    @Test("a program that is not there, and one that cannot be named")
    func errors() throws {
        #expect(throws: SystemError.notFound) { try Child(["/no/such/program"]) }
        #expect(throws: SystemError.accessDenied) { try Child(["/etc/passwd"]) }
        #expect(throws: SystemError.invalid) { try Child(["/bin/echo", "a\0b"]) }
        #expect(throws: SystemError.invalid) { try Child([]) }
    }
}

/// Reads a descriptor that does not block up to its end.
private func readToEnd(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    while let more = readSome(descriptor) { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
}

private func read(_ descriptor: Int32, until end: String) -> String {
    var bytes: [UInt8] = []
    while !String(decoding: bytes, as: UTF8.self).hasSuffix(end), let more = readSome(descriptor) {
        bytes += more
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Waits for something to read; nil at the end.
private func readSome(_ descriptor: Int32) -> [UInt8]? {
    RawOutput.wait(until: POLLIN, on: descriptor, milliseconds: 60_000)
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
}

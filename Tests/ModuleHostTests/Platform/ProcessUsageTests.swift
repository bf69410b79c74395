import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The usage of a process", .timeLimit(.minutes(1)))
struct ProcessUsageTests {
    @Test("this process has used time, and began before now")
    func own() throws {
        let usage = try #require(ProcessUsage(ofProcess: getpid()))
        #expect(usage.processorTime >= .zero)
        let now = WallTime.now()
        let start = usage.start(at: now)
        #expect((start.seconds, start.nanoseconds) <= (now.seconds, now.nanoseconds))
        // The clock of the system ticks a hundred times a second.
        let child = try HostProcess(["-c", "exec sleep 300"], program: "/bin/sh", in: "/")
        let later = try #require(ProcessUsage(ofProcess: child.processID)).start(at: now)
        #expect(later.seconds >= start.seconds)
        child.send(SIGKILL)
        _ = try child.waitForExit()
    }

    @Test("no process, nothing")
    func none() { #expect(ProcessUsage(ofProcess: Int32.max) == nil) }
}

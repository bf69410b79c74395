import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("MemoryPressure", .timeLimit(.minutes(10)))
struct MemoryPressureTests {
    @Test("what is watched, and from when on it notifies")
    func watch() {
        #expect(MemoryPressure.watch([:]) == .system)
        #expect(MemoryPressure.watch(["MEMORY_PRESSURE_WATCH": ""]) == .system)
        #expect(MemoryPressure.watch(["MEMORY_PRESSURE_WATCH": "/dev/null"]) == nil)
        #expect(
            MemoryPressure.watch(["MEMORY_PRESSURE_WATCH": "/a"]) == .init(path: "/a", trigger: []))
        let write = "c29tZSAyMDAwMDAgMjAwMDAwMAA="
        #expect(
            MemoryPressure.watch(["MEMORY_PRESSURE_WATCH": "/a", "MEMORY_PRESSURE_WRITE": write])
                == .init(path: "/a", trigger: Array("some 200000 2000000\0".utf8)))
    }

    @Test("one warning stands for all that follows for 10 s")
    func pause() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pressure")
        try #require(mkfifo(path, 0o600) == 0)
        let pipe = try Descriptor(opening: path, O_RDWR | O_NONBLOCK)
        let (time, log) = (ManualTimeSource(), LogRecorder())
        let warnings = AsyncStream<Void>.makeStream()
        let pressure = MemoryPressure(time: time, log: log.log) { warnings.continuation.yield() }
        pressure.start(["MEMORY_PRESSURE_WATCH": path])
        var warned = warnings.stream.makeAsyncIterator()
        try pipe.writeAll([1])
        await warned.next()
        time.advance(by: MemoryPressure.pause - .milliseconds(1))
        try pipe.writeAll([1])
        _ = await log.first(containing: "memory pressure continues")
        time.advance(by: .milliseconds(1))
        try pipe.writeAll([1])
        await warned.next()
        pressure.stop()
    }

    @Test("the kernel takes the trigger", .enabled(if: access("/proc/pressure/memory", W_OK) == 0))
    func kernel() {
        let log = LogRecorder()
        let pressure = MemoryPressure(log: log.log) {}
        pressure.start([:])
        #expect(log.messages == ["memory pressure is watched at '/proc/pressure/memory'"])
        pressure.stop()
    }
}

import Glibc
import ModuleHost
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import TestSupport
import Testing

/// The real host on a machine whose clock is set while it runs.
@Suite("hostd run: the clock is set", .timeLimit(.minutes(10)))
struct ClockTests {
    /// Puts the time of day off by as many seconds as a file says, and leaves other clocks alone.
    private static let shim = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>

        int clock_gettime(clockid_t clock, struct timespec *now) {
            int result = syscall(SYS_clock_gettime, clock, now);
            if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return result;
            char text[32] = {0};
            int file = syscall(SYS_openat, AT_FDCWD, getenv("CLOCK_OFFSET_FILE"), O_RDONLY);
            if (file < 0) return result;
            syscall(SYS_read, file, text, sizeof text - 1);
            syscall(SYS_close, file);
            now->tv_sec += atol(text);
            return result;
        }
        """

    /// A compiler of C, such as the one of Swift's toolchain; nil where there is none.
    private static let compiler: String? = {
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
        let compilers = folders.flatMap { ["\($0)/clang", "\($0)/cc"] }
        return compilers.first { access($0, X_OK) == 0 }
    }()

    /// Builds the shim.
    private static func makeShim(in folder: TemporaryFolder) throws -> String {
        let compiler = try #require(compiler)
        try folder.write(shim, to: "shim.c")
        let path = folder.path("shim.so")
        let outcome = try HostProcess.run(
            ["-shared", "-fPIC", "-o", path, folder.path("shim.c")], program: compiler)
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        return path
    }

    @Test(
        "ten years back, ten years forth: events, deadlines and the watchdog go on",
        .enabled(if: !isSanitized),
        .enabled(
            if: compiler != nil, "without a compiler of C there is nothing to set the clock with"))
    func jumps() throws {
        let folder = try TemporaryFolder()
        let shim = try Self.makeShim(in: folder)
        let manager = try NotifyReceiver(at: folder.path("notify"))
        let offset = folder.path("offset")
        try folder.write("0", to: "offset")
        let run = try HostdRun(
            HostdRun.slatefile(), in: folder,
            environment: [
                "NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000",
                "LD_PRELOAD": shim, "CLOCK_OFFSET_FILE": offset,
            ])
        let tenYears = 315_360_000
        for seconds in [0, -tenYears, tenYears, -86_400, 0] {
            try writeFile("\(seconds)".utf8, to: offset)
            _ = manager.all()
            for _ in 0..<3 { while try manager.next() != "WATCHDOG=1" {} }
            run.process.send(SIGUSR1)
            while try manager.next() != "STATUS=background: 2 modules" {}
            run.process.send(SIGUSR2)
            while try manager.next() != "STATUS=active: 2 modules" {}
        }
        run.process.send(SIGTERM)
        while try manager.next() != "STATUS=stopped" {}
        let outcome = try run.ended()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("unresponsive: "))
        // It did jump.
        let times = try run.journal().compactMap { $0["time"]?.string }
        #expect(times.contains { $0 < "2020" } && times.contains { $0 > "2030" })
    }
}

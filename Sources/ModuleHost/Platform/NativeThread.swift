import Glibc

/// A thread of the system, for work that must not share a queue with anything, such as the lane.
package enum NativeThread {
    /// The identity of the calling thread, unique among the living threads.
    ///
    /// Takes a register read, no system call.
    @inline(__always)
    package static var current: UInt { pthread_self() }

    /// Starts a thread that runs `body` and ends.
    ///
    /// The thread is detached: no other thread waits for it.
    ///
    /// It inherits the caller's signal mask: start it after ``SignalListener/blockAll()``.
    ///
    /// - Parameters:
    ///   - name: The name that `top` and a debugger show, of which the system keeps the first 15 bytes; nil for that
    ///     of the calling thread.
    ///   - stackSize: Bytes of address space, or nil for the system's default (mostly 8 MiB). Memory
    ///     is taken only as it is used.
    ///   - body: The thread's work.
    /// - Throws: ``SystemError`` where the system has no room for another thread.
    package static func start(
        name: String?, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { memory in
            guard let attributes = memory.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
            var thread = pthread_t()
            return pthread_create(&thread, attributes, runStart, start.toOpaque())
        }
        guard code == 0 else {
            start.release()
            throw SystemError(code: code)
        }
    }

    /// Checks that the system has room for more threads, by starting some that end at once.
    ///
    /// Dispatch says nothing where it gets none for a queue, and tries again for ever.
    ///
    /// - Parameter count: The number of threads that exist at a time.
    /// - Throws: ``SystemError`` where there is no room for so many.
    static func checkRoom(for count: Int) throws(SystemError) {
        let latch = Latch()
        defer { latch.open() }
        // Without a name, which takes longer to write than such a thread takes to run.
        for _ in 0..<count { try start(name: nil, stackSize: 64 << 10) { latch.wait() } }
    }

    /// Returns the message for an error of ``start(name:stackSize:_:)``, with the remedy.
    package static func problem(_ error: SystemError) -> String {
        "no thread can be started: \(error): raise the limit of threads ('ulimit -u', TasksMax= of a systemd unit) "
            + "or of address space ('ulimit -v')"
    }

    /// Gives the calling thread a name; for the main thread, that is the name of the process, too.
    ///
    /// `pthread_setname_np` is not visible to Swift; it writes this file. The name is not essential: without
    /// `/proc` the thread has none.
    ///
    /// - Parameter name: The name that `ps` and debuggers show; the kernel keeps 15 bytes of it.
    static func nameCurrent(_ name: String) {
        guard let file = try? Descriptor(opening: "/proc/thread-self/comm", O_WRONLY) else {
            return
        }
        try? file.writeAll(name.utf8)
    }
}

/// The entry point of a new thread; takes over the `Start` that it is given.
private func runStart(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

private final class Start: Sendable {
    private let name: String?
    private let body: @Sendable () -> Void

    init(name: String?, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        if let name { NativeThread.nameCurrent(name) }
        body()
    }
}

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
    ///   - name: The name that `top` and a debugger show; the system keeps the first 15 bytes.
    ///   - stackSize: Bytes of address space, or nil for the system's default (mostly 8 MiB). Memory
    ///     is taken only as it is used.
    ///   - body: The thread's work.
    /// - Throws: ``SystemError`` where the system has no room for another thread.
    package static func start(
        name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
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

    /// Checks that the system has room for more threads: starts so many, and waits for their end.
    ///
    /// Dispatch says nothing where it gets none for a queue, and tries again for ever.
    ///
    /// - Parameter count: The number of threads that exist at a time, each with a stack of the default size.
    /// - Throws: ``SystemError`` where there is no room for so many.
    static func checkRoom(for count: Int) throws(SystemError) {
        // Not a latch: a thread that allocates leaves an arena behind, which any later thread may get.
        let end = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(end, 0, 0)
        defer {
            sem_destroy(end)
            end.deallocate()
        }
        var threads: [pthread_t] = []
        var code: Int32 = 0
        while threads.count < count, code == 0 {
            var thread = pthread_t()
            code = pthread_create(&thread, nil, waitForEnd, end)
            if code == 0 { threads.append(thread) }
        }
        for _ in threads { sem_post(end) }
        for thread in threads { pthread_join(thread, nil) }
        guard code == 0 else { throw SystemError(code: code) }
    }

    /// Returns the message for an error of ``start(name:stackSize:_:)``, with the remedy.
    static func problem(_ error: SystemError) -> String {
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

/// The work of a thread that is to exist, and no more: it waits for the semaphore that it is given.
private func waitForEnd(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { sem_wait(argument.assumingMemoryBound(to: sem_t.self)) }
    return nil
}

private final class Start: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        NativeThread.nameCurrent(name)
        body()
    }
}

/// A reason why the first signal would end the process instead of reaching the host.
///
/// The kernel delivers a signal to any thread that has not blocked it. The host blocks its signals in its own
/// thread and in those that it starts, so a thread that existed before takes them, with the default action.
enum SignalThreadError: Error, Hashable, Sendable {
    /// The host was called on another thread than the main one: this one.
    case notMainThread(SystemThread)
    /// Another thread has not blocked these signals.
    case openThread(SystemThread, signals: [String])

    /// Checks the threads of this process.
    ///
    /// A thread that blocks the signals may exist, such as that of a sanitizer. Without `/proc` nothing can
    /// be checked.
    ///
    /// - Throws: The first unsuitable thread.
    static func check() throws(SignalThreadError) {
        guard let current = SystemThread.current else { return }
        guard current.isMain else { throw .notMainThread(current) }
        for thread in SystemThread.all where thread.id != current.id {
            let open = Slatefile.Defaults.signals.keys.filter { !thread.blocks($0.number) }
            if !open.isEmpty { throw .openThread(thread, signals: open.map(\.name).sorted()) }
        }
    }
}

extension SignalThreadError: CustomStringConvertible {
    /// One line: the call, the unsuitable thread, the consequence and the remedy.
    var description: String {
        let remedy =
            "call HostDaemon.run first thing in main, on the main thread, before any thread is made"
        return switch self {
        case .notMainThread(let thread):
            "HostDaemon.run was called on thread \(thread), not on the main thread: a signal that reaches "
                + "the main thread would end the process; \(remedy)"
        case .openThread(let thread, let signals):
            "HostDaemon.run was called after thread \(thread) was made, which does not block "
                + "\(signals.joined(separator: ", ")): such a signal would end the process; \(remedy)"
        }
    }
}

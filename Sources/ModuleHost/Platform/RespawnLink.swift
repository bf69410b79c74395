import Glibc

/// A host's end of the connection to its parent process (``HostParent``): each side detects by
/// it that the other has ended.
final class RespawnLink: Sendable {
    /// The variable that contains the number of the host's end.
    static let variable = "MODULEHOST_RESPAWN"

    private let descriptor: Descriptor

    /// Takes over the descriptor that the parent has opened, and removes the variable from the environment.
    ///
    /// Only before any other thread exists. Nil where there is no such parent.
    init?(environment: [String: String]) {
        guard let number = environment[Self.variable].flatMap(Int32.init), number > 2,
            // A child of this process must not keep the parent waiting.
            fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        CurrentProcess.removeFromEnvironment([Self.variable])
        descriptor = Descriptor(owning: number)
    }

    /// Notifies the parent that this process is to end for good, however it ends.
    func stopsForGood() { _ = try? descriptor.send([1]) }

    /// Waits for the end of the parent, on a thread of its own.
    ///
    /// - Parameter onEnd: Called at the end of the parent, on that thread.
    /// - Throws: ``SystemError`` where no thread can be started.
    func watch(_ onEnd: @escaping @Sendable () -> Void) throws(SystemError) {
        try NativeThread.start(name: "respawn", stackSize: 64 << 10) { [self] in
            _ = RawOutput.wait(until: POLLIN, on: descriptor.number, milliseconds: -1)
            onEnd()
        }
    }

    // MARK: The parent's side

    /// Starts this binary again, with the same arguments and in the same process group, as the child that has
    /// one end.
    ///
    /// - Parameters:
    ///   - environment: All of its variables, but the one of the link.
    ///   - signals: The signals that are blocked when the child begins.
    static func startChild(
        environment: [String: String], blocking signals: SignalSet
    ) throws(SystemError) -> (processID: Int32, parentEnd: ParentEnd) {
        let ends = try LocalSocket.pair(nonblocking: false)
        let parentEnd = ParentEnd(Descriptor(owning: ends.0))
        let childEnd = Descriptor(owning: ends.1)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A descriptor that is moved to itself stays open in the child.
        posix_spawn_file_actions_adddup2(&actions, childEnd.number, childEnd.number)
        var variables = environment
        variables[variable] = "\(childEnd.number)"
        // The service manager's watchdog of this process is answered by the child.
        if variables["WATCHDOG_PID"] == "\(CurrentProcess.id)" { variables["WATCHDOG_PID"] = nil }
        let processID = try spawnProcess(
            // Not by its name: another file may have it by now. Nor by its number: that may be another process in the
            // /proc of another PID namespace.
            "/proc/self/exe", CommandLine.arguments,
            variables: variables.map { "\($0)=\($1)" }.sorted(),
            // A signal that is sent to the child from its first moment on stays pending.
            blocked: signals, leadsGroup: false, &actions)
        return (processID, parentEnd)
    }

    /// The parent's end of the link.
    final class ParentEnd: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        /// Whether the child has notified that it is to end for good.
        var stopsForGood: Bool {
            var bytes: [UInt8] = [0]
            if case .bytes = descriptor.receive(into: &bytes) { return true }
            return false
        }
    }
}

import Glibc

/// A host's end of what ties it to the parent that starts it again (``RespawningParent``): either learns
/// from it that the other is gone.
final class RespawnLink: Sendable {
    /// The variable that has the number of the host's end.
    static let variable = "MODULEHOST_RESPAWN"

    private let descriptor: Descriptor

    /// Takes over what the parent has opened, and takes the variable out of the environment.
    ///
    /// Before any other thread exists. Nil where there is no such parent.
    init?(environment: [String: String]) {
        guard let number = environment[Self.variable].flatMap(Int32.init), number > 2,
            // No child of this process is to keep the parent waiting.
            fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        CurrentProcess.removeFromEnvironment([Self.variable])
        descriptor = Descriptor(owning: number)
    }

    /// Tells the parent that however this process ends, it was to end.
    func stopsForGood() { _ = try? descriptor.send([1]) }

    /// Waits for the end of the parent, on a thread of its own.
    ///
    /// - Parameter onEnd: Is called then, on that thread.
    /// - Throws: ``SystemError`` where no thread can be started.
    func watch(_ onEnd: @escaping @Sendable () -> Void) throws(SystemError) {
        try NativeThread.start(name: "respawn", stackSize: 64 << 10) { [self] in
            _ = RawOutput.wait(until: POLLIN, on: descriptor.number, milliseconds: -1)
            onEnd()
        }
    }

    // MARK: The parent's side

    /// Starts this very binary again, with the same arguments and in the same process group, as the child
    /// that has one end.
    ///
    /// - Parameters:
    ///   - environment: All of its variables, but the one of the link.
    ///   - signals: The signals that the child begins with blocked.
    /// - Returns: The child's process, and the parent's end.
    /// - Throws: ``SystemError``.
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
        let processID = try spawnProcess(
            // Not by its name: that may be another's by now.
            "/proc/\(CurrentProcess.id)/exe", CommandLine.arguments,
            variables: variables.map { "\($0)=\($1)" }.sorted(),
            // What is sent to it from its first moment on waits for it.
            blocked: signals, leadsGroup: false, &actions)
        return (processID, parentEnd)
    }

    /// The parent's end of the link.
    final class ParentEnd: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        /// Whether the child has said that it is to end.
        var stopsForGood: Bool {
            var bytes: [UInt8] = [0]
            if case .bytes = descriptor.receive(into: &bytes) { return true }
            return false
        }
    }
}

import AppService

/// The reader of modules' processes, except for output that a thread that waits for a response reads itself.
///
/// One thread reads for all hosts of this process, from the start of the first such process to the end of the last
/// one. It reads a page of each stream in turn, so that a process waits for another that floods only until the lines in
/// that are handled. Nothing that is called on it may wait.
final class ProcessReader: Sendable {
    static let shared = ProcessReader()

    /// The descriptors and the bell that the thread waits for.
    final class Waiting: Sendable {
        static let bellToken = UInt64.max

        let descriptors: Epoll
        let bell: Doorbell

        fileprivate init() throws(SystemError) {
            descriptors = try Epoll()
            bell = try Doorbell()
            try descriptors.add(bell.descriptor, token: Self.bellToken, .always)
        }
    }

    /// The processes that other threads left for the one that reads.
    struct Mail {
        var started: [ModuleProcess] = []
        /// The processes to be visited, by ``ModuleProcess/end``.
        var called: Set<Int32> = []
    }

    private struct State {
        /// Nil while no thread reads.
        var waiting: Waiting?
        var mail = Mail()
    }

    private let state = Guarded(State())

    /// Reads a process from now on.
    ///
    /// - Throws: ``SystemError`` where there is no room for the thread or for descriptors.
    func add(_ process: ModuleProcess) throws(SystemError) {
        let bell = try state.withLock { state in
            Result { () throws(SystemError) in
                let waiting = try waiting(&state)
                try waiting.descriptors.add(process)
                state.mail.started.append(process)
                return waiting.bell
            }
        }.get()
        bell.ring()
    }

    /// Has a process visited: there is room for its messages, or the reader may read its output again.
    ///
    /// - Parameter process: Its ``ModuleProcess/end``. Nothing happens where it is not read.
    func call(_ process: Int32) {
        let bell = state.withLock { state in
            if state.waiting != nil { state.mail.called.insert(process) }
            return state.waiting?.bell
        }
        bell?.ring()
    }

    /// Whether there is a thread that reads.
    var isReading: Bool { state.withLock { $0.waiting != nil } }

    private func waiting(_ state: inout State) throws(SystemError) -> Waiting {
        if let waiting = state.waiting { return waiting }
        let waiting = try Waiting()
        try NativeThread.start(name: "modules", stackSize: 512 << 10) { [self] in
            var loop = ReadingLoop(self, waiting)
            // It begins with the mail, for which it waits until this lock is free.
            while loop.turn() {}
        }
        state.waiting = waiting
        return waiting
    }

    /// Takes the processes that other threads left.
    ///
    /// - Parameter isIdle: Whether no process is read.
    /// - Returns: Nil where there is nothing to read any more: the thread ends, and the next process starts another.
    func takeMail(isIdle: Bool) -> Mail? {
        state.withLock { state in
            defer { state.mail = Mail() }
            guard isIdle, state.mail.started.isEmpty else { return state.mail }
            state.waiting = nil
            return nil
        }
    }
}

extension Epoll {
    /// Adds the descriptors of a process: all or none.
    fileprivate func add(_ process: ModuleProcess) throws(SystemError) {
        do throws(SystemError) {
            for part in ModuleReading.Ready.parts {
                try add(
                    process.descriptor(of: part), token: ModuleReading.token(process, part),
                    part == .end ? .always : .once)
            }
        } catch {
            remove(process)
            throw error
        }
    }

    /// Removes the descriptors of a process.
    func remove(_ process: ModuleProcess) {
        for part in ModuleReading.Ready.parts { remove(process.descriptor(of: part)) }
    }
}

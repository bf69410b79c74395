import Glibc

/// A set of descriptors to wait for together.
struct PollSet {
    /// The events to wait for; hang-ups and errors are always among them.
    struct Interest: OptionSet {
        let rawValue: Int16
        static let reading = Interest(rawValue: Int16(POLLIN))
        static let writing = Interest(rawValue: Int16(POLLOUT))
        static let urgent = Interest(rawValue: Int16(POLLPRI))
    }

    private var entries: [pollfd] = []

    init() { entries.reserveCapacity(4) }

    /// Starts over with no descriptors.
    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds a descriptor, which must stay open until the set is emptied.
    @discardableResult
    mutating func insert(_ descriptor: Int32, _ interest: Interest) -> Int {
        entries.append(pollfd(fd: descriptor, events: interest.rawValue, revents: 0))
        return entries.count - 1
    }

    /// Waits until a descriptor is ready.
    ///
    /// - Parameter milliseconds: The longest wait; less than zero for no limit.
    /// - Returns: Whether a descriptor is ready; false on a timeout.
    @discardableResult
    mutating func wait(milliseconds: Int32 = -1) -> Bool {
        while true {
            let count = poll(&entries, nfds_t(entries.count), milliseconds)
            if count >= 0 { return count > 0 }
            // Signals are blocked in the threads that wait here: an interruption comes from a tracer.
            guard errno == EINTR else { return false }
        }
    }

    /// Returns whether there is any event of the descriptor at `index`.
    func isReady(_ index: Int) -> Bool { entries[index].revents != 0 }

    /// Returns whether reading from the descriptor at `index` will not wait.
    func canRead(_ index: Int) -> Bool { has(POLLIN, index) }

    /// Returns whether both directions of the connection at `index` are closed.
    func isHungUp(_ index: Int) -> Bool { has(POLLHUP | POLLERR, index) }

    private func has(_ events: Int32, _ index: Int) -> Bool {
        Int32(entries[index].revents) & events != 0
    }
}

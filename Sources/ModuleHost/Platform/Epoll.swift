import Glibc

/// A set of descriptors of which the kernel keeps the list (epoll): a wait costs as much as there is ready,
/// however many descriptors there are.
///
/// Any thread may add and remove descriptors while another one waits.
struct Epoll: ~Copyable, Sendable {
    /// The number of times that a descriptor is reported.
    enum Report {
        /// In each wait, as long as it is ready.
        case always
        /// Once; then not until ``watch(_:token:)``.
        case once
    }

    /// The state that a descriptor is to be in.
    enum Interest: UInt32 {
        /// It can be read, or has ended.
        case reading = 1
        /// It has room, or is not read any more.
        case writing = 4
    }

    private let queue: Descriptor

    /// - Throws: ``SystemError`` where there is no room for a descriptor.
    init() throws(SystemError) {
        let number = createSet(O_CLOEXEC)
        guard number >= 0 else { throw .last }
        queue = Descriptor(owning: number)
    }

    /// Adds a descriptor, to be reported when it can be read, or has ended.
    ///
    /// - Parameters:
    ///   - descriptor: Has to stay open until it is removed.
    ///   - token: The value that ``wait(milliseconds:_:)`` reports.
    ///   - report: The number of times that it is reported.
    /// - Throws: ``SystemError``, also where the user has no watches left
    ///   (`/proc/sys/fs/epoll/max_user_watches`).
    func add(_ descriptor: Int32, token: UInt64, _ report: Report) throws(SystemError) {
        let code = Self.change(queue.number, .add, descriptor, token, .reading, report)
        guard code == 0 else { throw .last }
    }

    /// Watches a descriptor again that was added to be reported once; one that is waited for to be written is added where it
    /// was not.
    func watch(_ descriptor: Int32, token: UInt64, _ interest: Interest = .reading) {
        let code = Self.change(queue.number, .modify, descriptor, token, interest, .once)
        guard code != 0, interest == .writing else { return }
        _ = Self.change(queue.number, .add, descriptor, token, interest, .once)
    }

    func remove(_ descriptor: Int32) {
        _ = Self.change(queue.number, .remove, descriptor, 0, .reading, .always)
    }

    /// Waits until a descriptor is ready.
    ///
    /// - Parameters:
    ///   - milliseconds: The longest wait; less than zero for no limit.
    ///   - body: Called with the token of each descriptor that is ready; at most 64 in a wait, others have
    ///     their turn in the next one.
    func wait(milliseconds: Int32, _ body: (UInt64) -> Void) {
        let limit = 64
        withUnsafeTemporaryAllocation(byteCount: limit * Entry.size, alignment: 8) { entries in
            guard let start = entries.baseAddress else { return }
            let count = retryingInterrupted {
                waitForSet(queue.number, start, Int32(limit), milliseconds)
            }
            for place in 0..<max(0, Int(count)) {
                body(
                    entries.loadUnaligned(
                        fromByteOffset: place * Entry.size + Entry.token, as: UInt64.self))
            }
        }
    }

    private enum Change: Int32 {
        case add = 1
        case remove = 2
        case modify = 3
    }

    private static func change(
        _ set: Int32, _ change: Change, _ descriptor: Int32, _ token: UInt64,
        _ interest: Interest, _ report: Report
    ) -> Int32 {
        let once: UInt32 = 1 << 30
        return withUnsafeTemporaryAllocation(byteCount: Entry.size, alignment: 8) { entry in
            entry.storeBytes(
                of: interest.rawValue | (report == .once ? once : 0), as: UInt32.self)
            entry.storeBytes(of: token, toByteOffset: Entry.token, as: UInt64.self)
            return changeSet(set, change.rawValue, descriptor, entry.baseAddress)
        }
    }

    /// The layout of `struct epoll_event`, which is packed on one architecture only.
    private enum Entry {
        #if arch(x86_64)
            static let token = 4
        #else
            static let token = 8
        #endif
        static let size = token + 8
    }
}

// The overlay of the C library does not declare them (`sys/epoll.h`).
@_silgen_name("epoll_create1") private func createSet(_ flags: Int32) -> Int32
@_silgen_name("epoll_ctl") private func changeSet(
    _ set: Int32, _ change: Int32, _ descriptor: Int32, _ entry: UnsafeMutableRawPointer?
) -> Int32
@_silgen_name("epoll_wait") private func waitForSet(
    _ set: Int32, _ entries: UnsafeMutableRawPointer, _ limit: Int32, _ milliseconds: Int32
) -> Int32

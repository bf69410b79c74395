import AppService
import Synchronization

/// The counts of what modules did with events, by the numbers of their slots.
///
/// A table of its own, so that a delivery adds to one word and looks at no other object.
///
/// `@unchecked Sendable`: the address is set once; what it refers to is atomic, lives as long as this object, and is
/// accessed in no other way. `LaneTests` under the thread sanitizer would break it.
final class DeliveryCounts: @unchecked Sendable {
    /// The counts of one module.
    struct Counts: Hashable, Sendable {
        /// The number of events that its handlers have handled.
        var deliveries = 0
        /// The number of times that its handlers threw.
        var failures = 0
        /// The time that its handlers took, by the kernel's coarse clock: right in the mean.
        var time = Duration.zero
        /// The number of handlings that took longer than each of ``bounds``, and not longer than the next one.
        ///
        /// A vector and no array: the lane reads those of all modules.
        var slow = SIMD8<Int>()

        fileprivate static let bounds = MetricFamily.handlingBounds

        /// The number of handlings that ended with the bound of each bucket at most, and of all.
        var buckets: [Int] {
            let all = max(deliveries + failures, slow.wrappedSum())
            return Self.bounds.indices.reversed().reduce(into: [all]) { buckets, bound in
                buckets.append((buckets.last ?? 0) - slow[bound])
            }.reversed()
        }

        static func + (one: Counts, other: Counts) -> Counts {
            Counts(
                deliveries: one.deliveries + other.deliveries,
                failures: one.failures + other.failures, time: one.time + other.time,
                slow: one.slow &+ other.slow)
        }
    }

    /// The address of the counts, which code in a loop takes once.
    ///
    /// Columns: deliveries, which lie close together, failures, nanoseconds, and a column for each bound of
    /// ``Counts/slow``.
    struct Address {
        fileprivate static let rows = Int(UInt16.max) + 1
        fileprivate static let columns = 3 + Counts.bounds.count
        fileprivate let words: UnsafeMutablePointer<Atomic<Int>>

        /// Counts an event that a module has handled: a load and a store.
        ///
        /// In the module. Where another thread has taken the lane meanwhile, the count may be one off.
        ///
        /// - Parameters:
        ///   - number: The number of its slot.
        ///   - time: The nanoseconds that it took, where the clock has moved.
        @inline(__always)
        func countDelivery(to number: UInt16, after time: Int = 0) {
            let word = words + Int(number)
            word.pointee.store(
                word.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            if time > 0 { noteLength(time, of: number) }
        }

        /// Counts the reply of a module to an event, if it has handled that.
        ///
        /// - Parameters:
        ///   - reply: The reply.
        ///   - number: The number of its slot.
        ///   - time: The nanoseconds that it took; 0 where that is not known.
        func count(_ reply: EventReply, of number: UInt16, after time: Int = 0) {
            switch reply {
            case .received, .fetch, .observed, .claim: countDelivery(to: number, after: time)
            case .notConcerned, .open: break
            }
        }

        /// Counts a handler that threw; from any thread.
        func countFailure(of number: UInt16) {
            (words + Self.rows + Int(number)).pointee.wrappingAdd(1, ordering: .relaxed)
        }

        /// Adds the time of a handler in nanoseconds; from any thread.
        func add(_ time: Int, of number: UInt16) {
            (words + 2 * Self.rows + Int(number)).pointee.wrappingAdd(time, ordering: .relaxed)
        }

        /// Notes how long a handling took that is counted as one, in nanoseconds; from any thread.
        func noteLength(_ time: Int, of number: UInt16) {
            let time = Duration.nanoseconds(Int64(time))
            guard let bound = Counts.bounds.lastIndex(where: { time > $0 }) else { return }
            (words + (3 + bound) * Self.rows + Int(number)).pointee.wrappingAdd(
                1, ordering: .relaxed)
        }
    }

    let address: Address
    /// The counts of earlier instances of modules.
    private let former = Guarded<[ModuleID: Counts]>([:])

    init() {
        // Memory that is not touched is not resident: a row is initialized when a slot takes its number.
        address = Address(words: .allocate(capacity: Address.columns * Address.rows))
        reset(0)
    }

    deinit { address.words.deallocate() }

    /// Begins to count for another module, before that is entered.
    func reset(_ number: UInt16) {
        for column in 0..<Address.columns {
            (address.words + column * Address.rows + Int(number)).initialize(to: Atomic(0))
        }
    }

    /// The counts of a module, those of its earlier instances included; nil where there are none.
    ///
    /// - Parameter numbers: The numbers of the slots of its instances, which the lane knows.
    subscript(module: ModuleID, numbers: [UInt16]) -> Counts? {
        let former = former.withLock { $0[module] } ?? Counts()
        let all = numbers.reduce(former) { $0 + self[$1] }
        return all == Counts() ? nil : all
    }

    /// Keeps the counts of an instance that is gone for the next one.
    func keep(_ number: UInt16, of module: ModuleID) {
        guard let all = self[module, [number]] else { return }
        former.withLock { $0[module] = all }
    }

    /// Forgets the counts of the earlier instances of a module.
    func forget(_ module: ModuleID) { former.withLock { $0[module] = nil } }

    private subscript(number: UInt16) -> Counts {
        func load(_ column: Int) -> Int {
            (address.words + column * Address.rows + Int(number)).pointee.load(ordering: .relaxed)
        }
        var counts = Counts(
            deliveries: load(0), failures: load(1), time: .nanoseconds(Int64(load(2))))
        for bound in Counts.bounds.indices { counts.slow[bound] = load(3 + bound) }
        return counts
    }
}

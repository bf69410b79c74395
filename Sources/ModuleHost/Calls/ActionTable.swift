/// The routes of an app by module and action: where a call by name looks.
///
/// One hash table with open addressing, whose slots are found without counting a reference or copying a
/// name: a call by name has 60 ns for everything. Belongs to the lane.
final class ActionTable {
    private struct Slot {
        var hash: UInt64 = 0
        /// Counted in, and out where it is taken out.
        var route: Unmanaged<BoundRoute>?
    }

    /// At least half of them are free; their number is a power of two.
    private var slots = UnsafeMutablePointer<Slot>.allocate(capacity: 16)
    private var mask = 15
    private var count = 0

    init() { slots.initialize(repeating: Slot(), count: 16) }

    deinit {
        for index in 0...mask { slots[index].route?.release() }
        slots.deinitialize(count: mask + 1)
        slots.deallocate()
    }

    /// Adds a route under its action.
    ///
    /// - Throws: ``RouteError/repeatedAction(_:of:)`` where the module has one of that name; nothing is
    ///   added then.
    func add(_ route: BoundRoute) throws(RouteError) {
        guard find(route.entry.module.text, route.action) == nil else {
            throw .repeatedAction(route.action, of: route.entry.module)
        }
        count += 1
        if count * 2 > mask { grow() }
        place(
            Slot(hash: Self.hash(route.moduleID, route.action), route: .passRetained(route)))
    }

    /// Exchanges the routes of two tables.
    func swapContents(with other: ActionTable) {
        swap(&slots, &other.slots)
        swap(&mask, &other.mask)
        swap(&count, &other.count)
    }

    /// Removes a route that is in the table; the caller holds it.
    func remove(_ route: BoundRoute) {
        var gap = Int(truncatingIfNeeded: Self.hash(route.moduleID, route.action)) & mask
        while let other = slots[gap].route,
            other.toOpaque() != Unmanaged.passUnretained(route).toOpaque()
        {
            gap = (gap + 1) & mask
        }
        guard let found = slots[gap].route else { return }
        count -= 1
        // What stands behind it moves up where it may, so that a search still comes by.
        var index = gap
        while true {
            index = (index + 1) & mask
            guard slots[index].route != nil else { break }
            let home = Int(truncatingIfNeeded: slots[index].hash) & mask
            guard (index - home) & mask >= (index - gap) & mask else { continue }
            slots[gap] = slots[index]
            gap = index
        }
        slots[gap] = Slot()
        found.release()
    }

    private func grow() {
        let (old, oldMask) = (slots, mask)
        mask = mask * 2 + 1
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: Slot(), count: mask + 1)
        for index in 0...oldMask where old[index].route != nil { place(old[index]) }
        old.deinitialize(count: oldMask + 1)
        old.deallocate()
    }

    private func place(_ slot: Slot) {
        var index = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[index].route != nil { index = (index + 1) & mask }
        slots[index] = slot
    }

    @inline(__always)
    private static func hash(_ module: String, _ action: String) -> UInt64 {
        var (module, action) = (module, action)
        let first = module.withUTF8 { SegmentBytes($0).exactHash }
        let second = action.withUTF8 { SegmentBytes($0).exactHash }
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ second
        return mixed ^ (mixed >> 32)
    }

    /// The route of an action, or nil.
    @inline(__always)
    func find(_ module: String, _ action: String) -> BoundRoute? {
        let hash = Self.hash(module, action)
        var index = Int(truncatingIfNeeded: hash) & mask
        while let route = slots[index].route {
            let isIt =
                slots[index].hash == hash
                && route._withUnsafeGuaranteedRef {
                    $0.moduleID == module && $0.action == action
                }
            if isIt { return route.takeUnretainedValue() }
            index = (index + 1) & mask
        }
        return nil
    }
}

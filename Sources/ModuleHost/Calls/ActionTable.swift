/// The routes of an app by module and action: where a call by name looks.
///
/// One hash table with open addressing, whose slots are found without counting a reference or copying a
/// name: a call by name has 60 ns for everything. Belongs to the lane.
final class ActionTable {
    private struct Slot {
        var hash: UInt64 = 0
        /// Nil where there was never a route; one that was removed is left until the table grows.
        var route: Unmanaged<BoundRoute>?
    }

    /// At least half of them are free; their number is a power of two.
    private var slots = UnsafeMutablePointer<Slot>.allocate(capacity: 16)
    private var mask = 15
    /// What keeps the routes of the slots alive, those that were removed too.
    private var kept: [BoundRoute] = []

    init() { slots.initialize(repeating: Slot(), count: 16) }

    deinit {
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
        kept.append(route)
        if kept.count * 2 > mask {
            grow()
        } else {
            place(route)
        }
    }

    /// Removes a route; it is not found any more.
    func remove(_ route: BoundRoute) { route.isRemoved = true }

    private func grow() {
        slots.deinitialize(count: mask + 1)
        slots.deallocate()
        kept.removeAll(where: \.isRemoved)
        while kept.count * 2 > mask { mask = mask * 2 + 1 }
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: Slot(), count: mask + 1)
        for route in kept { place(route) }
    }

    private func place(_ route: BoundRoute) {
        let hash = Self.hash(route.entry.module.text, route.action)
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].route != nil { index = (index + 1) & mask }
        slots[index] = Slot(hash: hash, route: Unmanaged.passUnretained(route))
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
                    !$0.isRemoved && $0.moduleID == module && $0.action == action
                }
            if isIt { return route.takeUnretainedValue() }
            index = (index + 1) & mask
        }
        return nil
    }
}

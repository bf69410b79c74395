/// The routes of an app by module and action, for calls by name.
///
/// A call by name has a budget of 60 ns. Belongs to the lane.
typealias ActionTable = ObjectTable<BoundRoute>

extension ObjectTable<BoundRoute> {
    /// Adds a route under its action.
    ///
    /// - Throws: ``RouteError/repeatedAction(_:of:)`` where the module has an action of that name; nothing is
    ///   added then.
    func add(_ route: BoundRoute) throws(RouteError) {
        guard find(route.moduleID, route.action) == nil else {
            throw .repeatedAction(route.action, of: route.entry.module)
        }
        insert(route, Self.hash(route.moduleID, route.action))
    }

    /// Removes a route that is in the table; the caller keeps it alive.
    func remove(_ route: BoundRoute) {
        let this = Unmanaged.passUnretained(route).toOpaque()
        remove(Self.hash(route.moduleID, route.action)) { $0.toOpaque() == this }
    }

    /// Returns the route of an action, or nil.
    @inline(__always)
    func find(_ module: String, _ action: String) -> BoundRoute? {
        find(Self.hash(module, action)) { route in
            route._withUnsafeGuaranteedRef { $0.moduleID == module && $0.action == action }
        }?.takeUnretainedValue()
    }

    @inline(__always)
    private static func hash(_ module: String, _ action: String) -> UInt64 {
        let first = module.withUTF8Bytes { SegmentBytes($0).exactHash }
        let second = action.withUTF8Bytes { SegmentBytes($0).exactHash }
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ second
        return mixed ^ (mixed << 32)
    }
}

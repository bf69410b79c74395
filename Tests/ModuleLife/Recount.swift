/// The facts that follow from the lives of modules, computed from them without the functions of the table.
///
/// Each member is a set of places.
struct Recount: Equatable {
    private(set) var up = PlaceSet()
    private(set) var wanted = PlaceSet()
    private(set) var needed = PlaceSet()
    private(set) var moving = PlaceSet()
    private(set) var failed = PlaceSet()

    init(of table: ModuleTable) {
        for (place, module) in table.modules.enumerated() {
            if module.life == .running || module.life == .done { up.insert(place) }
        }
        // Users stand after what they need: they are asked first.
        for (place, module) in table.modules.enumerated().reversed() {
            let entry = table.entries[place]
            let isUsed = !entry.isLazy || module.hasCallers || module.isOwed
            if table.phase == .launching || table.phase == .running, !module.isGone,
                isUsed || needed.contains(place)
            {
                wanted.insert(place)
            }
            let isUser = wanted.contains(place) || module.life.hasInstance || module.staged != nil
            guard isUser, module.life != .done else { continue }
            for need in entry.needs { needed.insert(need) }
        }
        for (place, module) in table.modules.enumerated() {
            let isFree = !module.isStuck && !module.isGone
            let canStart = (module.life == .idle || module.life == .due) && isFree
            let haveNeeds = table.entries[place].needs.allSatisfy {
                up.contains($0) || moving.contains($0)
            }
            if module.staged != nil || module.life.isMoving || canStart && haveNeeds {
                moving.insert(place)
            }
            let isDown = module.life == .idle || module.life == .due
            let isMissed = isDown && wanted.contains(place) && !moving.contains(place)
            if module.life == .failed && !module.isGone || isMissed { failed.insert(place) }
        }
    }

    /// Returns the first derived value of a table that differs; nil where none does.
    func difference(from table: ModuleTable) -> String? {
        for place in table.modules.indices {
            if table.isUp(place) != up.contains(place) { return "isUp" }
            if table.isWanted(place) != wanted.contains(place) { return "isWanted" }
            if table.isNeeded(place) != needed.contains(place) { return "isNeeded" }
            if table.willMove(place) != moving.contains(place) { return "willMove" }
            if table.isFailed(place) != failed.contains(place) { return "isFailed" }
            let missing = table.entries[place].needs.first { !up.contains($0) }
            if table.missingNeed(of: place) != missing { return "missingNeed" }
        }
        let there = table.modules.filter { !$0.isGone }
        let counts = ModuleCounts(
            modules: there.count, running: there.count { $0.life == .running },
            failed: failed.count)
        return table.counts == counts ? nil : "counts"
    }
}

/// A set of places below 64.
struct PlaceSet: Equatable {
    private var bits: UInt64 = 0

    var count: Int { bits.nonzeroBitCount }

    func contains(_ place: Place) -> Bool { bits & 1 << UInt64(place) != 0 }

    mutating func insert(_ place: Place) { bits |= 1 << UInt64(place) }
}

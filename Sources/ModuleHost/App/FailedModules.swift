/// The modules of an app that have failed, in slatefile order.
///
/// Noted one by one: each failure is reported with all of them, and to search all modules for them would take as many
/// steps for each as the app has modules.
struct FailedModules {
    private(set) var ids: [ModuleID] = []
    /// The times since when each is, in the same order.
    private(set) var since: [WallTime] = []
    /// Their ranks, which order them.
    private var ranks: [UInt16] = []
    /// The rank of the first required one: those after it do not receive `launch`, and the app ends.
    private(set) var firstRequired: UInt16?

    init() {}

    init(among records: [ModuleRecord]) {
        for record in records where record.isFailed { insert(record) }
    }

    /// Adds a module that is not among them.
    mutating func insert(_ record: ModuleRecord) {
        if record.entry.isRequired {
            firstRequired = min(firstRequired ?? .max, record.slot.rank)
        }
        let index = ranks.partitioningIndex { $0 > record.slot.rank }
        ids.insert(record.id, at: index)
        since.insert(record.since, at: index)
        ranks.insert(record.slot.rank, at: index)
    }

    /// Removes a module, which may not be among them.
    mutating func remove(_ record: ModuleRecord) {
        let index = ranks.partitioningIndex { $0 >= record.slot.rank }
        guard index < ranks.count, ranks[index] == record.slot.rank else { return }
        ids.remove(at: index)
        since.remove(at: index)
        ranks.remove(at: index)
    }
}

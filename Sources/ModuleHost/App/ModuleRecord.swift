/// One enabled module of the running app.
///
/// Belongs to the lane.
final class ModuleRecord {
    /// What has become of a module.
    enum Status {
        case waiting
        case made
        /// It heard `launch`, or would have.
        case launched
        /// It gets nothing more, for this reason.
        case failed(String)
        case released
    }

    /// What the slatefile says of it; of a late module, what one before said.
    var entry: Slatefile.Module
    let cell: Cell
    var status = Status.waiting
    var module: (any Module)?
    var context: ModuleContext?
    /// What is left of a module that was taken out, until it is let go of.
    var departure: Departure?
    /// What a module that was taken out is yet to be told.
    var farewell: [EventKind] = []
    /// Whether it is late for a reason that has been told of, and nothing is said of it.
    var isQuietlyLate = false

    init(entry: Slatefile.Module, cell: Cell) {
        self.entry = entry
        self.cell = cell
    }

    var id: ModuleID { entry.id }

    var unavailability: String {
        switch status {
        case .failed(let reason): "it failed: \(reason)"
        case .waiting: "it is not made yet"
        case .made where module == nil: "it is not made yet"
        case .made, .launched, .released: "it was removed"
        }
    }

    var isFailed: Bool {
        if case .failed = status { true } else { false }
    }
}

extension ModuleRecord: CallableModule {
    var instance: AnyObject? { module }
}

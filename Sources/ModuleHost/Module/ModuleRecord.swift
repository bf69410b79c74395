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

    let entry: Slatefile.Module
    let cell: Cell
    var status = Status.waiting
    var module: (any Module)?
    var context: ModuleContext?

    init(entry: Slatefile.Module, cell: Cell) {
        self.entry = entry
        self.cell = cell
    }

    var id: ModuleID { entry.id }

    var isFailed: Bool {
        if case .failed = status { true } else { false }
    }
}

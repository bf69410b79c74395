/// The error for a module that does not exist, or is not enabled.
package struct NoSuchModule: Error, Hashable, CustomStringConvertible {
    /// The reason why a module of the slatefile does not run.
    enum Absence: String {
        case disabled = "is disabled: 'enable' runs it again"
        case notEnabled = "is not enabled in the slatefile"
    }

    let name: String
    var nearest: String?
    /// Nil where there is no such module.
    var absence: Absence?

    package var description: String {
        if let absence { return "module \(quoted(name)) \(absence.rawValue)" }
        return "no module \(quoted(name))" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    }
}

extension NoSuchModule {
    /// Creates the error for a name that no enabled module of a slatefile has.
    init(name: String, in slatefile: Slatefile) {
        self.init(name: name)
        if let entry = slatefile.modules.first(where: { $0.id.text == name }) {
            absence = entry.isDisabled ? .disabled : .notEnabled
        } else {
            let ids = slatefile.modules.lazy.filter(\.isEnabled).map(\.id.text)
            nearest = nearestName(to: name, in: ids)
        }
    }
}

extension RPCError {
    init(_ error: NoSuchModule) { self.init(.notFound, "\(error)") }
}

extension AppHost {
    /// Returns why a name is not that of an enabled module; nil for one that is.
    func missingModule(_ name: String) -> NoSuchModule? {
        let slatefile = slatefile
        let isThere = slatefile.modules.contains { $0.isEnabled && $0.id.text == name }
        return isThere ? nil : NoSuchModule(name: name, in: slatefile)
    }
}

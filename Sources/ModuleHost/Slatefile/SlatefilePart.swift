/// The part of a slatefile that an app has which was composed for one module alone (`compose --only`).
package struct SlatefilePart: Hashable, Sendable {
    /// The module, which is the main one in place of the slatefile's.
    let main: String
    /// The module and all that it needs.
    let modules: Set<String>

    /// Creates a part of the ids that a program was composed of; nil for a whole slatefile.
    package init?(_ only: [String]) {
        guard let main = only.first else { return nil }
        self.main = main
        modules = Set(only)
    }

    /// The reason why a module cannot be called that is not in the part.
    var reason: String {
        "it is not part of this app, which was composed with --only \(excerpt(main))"
    }
}

extension Slatefile {
    /// Returns the ids of a module and of those that it needs, directly or not, the module first.
    ///
    /// - Returns: The ids; nil where no enabled module has the id.
    package func needs(of id: String) -> [String]? {
        let known = Dictionary(modules.map { ($0.id.text, $0) }) { first, _ in first }
        guard known[id]?.isEnabled == true else { return nil }
        var found = [id]
        var seen: Set<String> = [id]
        var next = 0
        while next < found.count {
            for need in known[found[next]]?.needs ?? [] where seen.insert(need.text).inserted {
                found.append(need.text)
            }
            next += 1
        }
        return found
    }
}

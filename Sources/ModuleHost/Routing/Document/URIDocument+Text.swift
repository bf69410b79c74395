extension URIDocument {
    /// The document as a table for a terminal: a line for each route and, below it, its summary, its parameters and an
    /// example, in lines of 80 characters where the names leave room for that.
    var text: String {
        if routes.isEmpty {
            let none = incomplete.isEmpty ? "no module of '\(shown(app))' has routes\n" : ""
            return none + closing.joined()
        }
        let rows = routes.map { route in
            [
                shown(route.module), shown(route.pattern), route.access.rawValue,
                shown(route.reply ?? ""),
            ]
        }
        let header = ["module", "route", "access", "reply"]
        var widths = header.map(\.count)
        for row in rows {
            for (column, slot) in row.enumerated() {
                // A very long slot does not move the other columns out of sight.
                widths[column] = max(widths[column], min(slot.count, 48))
            }
        }
        func line(_ slots: [String]) -> String {
            var line = zip(slots, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }
        var text = line(header)
        var lastModule = ""
        for (row, route) in zip(rows, routes) {
            // The name appears once, at the first of the module's routes.
            text += line([row[0] == lastModule ? "" : row[0]] + row.dropFirst())
            lastModule = row[0]
            let margin = widths[0] + 4
            for line in route.notes.flatMap({ filled($0, to: max(40, 80 - margin)) }) {
                text += String(repeating: " ", count: margin) + line + "\n"
            }
        }
        return text + (closing.isEmpty ? "" : "\n") + closing.joined()
    }

    /// The lines below the table, each with its end.
    private var closing: [String] {
        closingSentences(shown).map { $0 + "\n" }
    }

    /// The sentences below the table, about modules.
    ///
    /// - Returns: The sentences, without a full stop.
    func closingSentences(_ code: (String) -> String) -> [String] {
        incomplete.map {
            "\(code($0)) lists its routes when it runs: those that are not declared here are known then"
        } + instead.map { "\(code($0.module.text)), when it has failed: \(code($0.url))" }
    }
}

extension URIDocument.Route {
    /// The lines below the columns.
    fileprivate var notes: [String] {
        var notes: [String] = []
        if !summary.isEmpty { notes.append(shown(summary)) }
        if !parameterList.isEmpty { notes.append("parameters \(parameterList)") }
        if action != pattern { notes.append("action \(shown(action))") }
        if let lateness { notes.append(lateness) }
        notes.append(example.map(shown) ?? "no example: no URL was found that leads here")
        return notes
    }

    /// The parameters in the form of a call: `name: String, page: Int?`.
    package var parameterList: String {
        let list = parameters.map { "\(shown($0.name)): \(shown($0.typeInWords))" }
        return (list + (isPartial ? ["…"] : [])).joined(separator: ", ")
    }
}

extension URIDocument.Parameter {
    /// The type, or the values of an enum; with a question mark where the parameter is optional.
    var typeInWords: String {
        let name = values.isEmpty ? type ?? (isList ? "[String]" : "String") : words
        return isRequired ? name : name + "?"
    }

    private var words: String {
        let words = values.joined(separator: "|")
        return isList ? "[\(words)]" : !isRequired && values.count > 1 ? "(\(words))" : words
    }
}

/// Returns the text on one line, without characters that a terminal would obey.
package func shown(_ text: String) -> String {
    printable(Substring(text).unicodeScalars)
}

extension URIDocument {
    /// The document as sections with a table for each module.
    var markdown: String {
        var text = "# URIs of \(markdownText(app))\n\n"
        text += "\(count), as the command `routes --format markdown` writes them.\n"
        for (module, routes) in modules {
            text += """

                ## \(markdownText(module))

                | Route | Access | Parameters | Reply | Example |
                |---|---|---|---|---|

                """
            for route in routes { text += route.markdownRow }
        }
        let sentences = closingSentences(markdownCode)
        if !sentences.isEmpty { text += "\n" }
        for sentence in sentences { text += "- \(sentence)\n" }
        return text
    }
}

extension URIDocument.Route {
    fileprivate var markdownRow: String {
        var name = markdownCode(pattern)
        if action != pattern { name += "<br>action " + markdownCode(action) }
        if !summary.isEmpty { name += "<br>" + markdownText(summary) }
        if let lateness { name += "<br>" + lateness }
        let list = parameters.map { parameter in
            let place = parameter.place == .query ? ", in the query" : ""
            return markdownCode("\(parameter.name): \(parameter.typeInWords)") + place
        }
        let slots = [
            name, access.rawValue,
            (list + (isPartial ? ["and more"] : [])).joined(separator: "<br>"),
            reply.map(markdownCode) ?? "", example.map(markdownCode) ?? "",
        ]
        return "|" + slots.map { $0.isEmpty ? " |" : " \($0) |" }.joined() + "\n"
    }
}

/// Returns the text with every character escaped that has a meaning in Markdown or HTML.
func markdownText(_ text: String) -> String {
    var result = ""
    for scalar in shown(text).unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\\", "`", "*", "_", "[", "]", "|", "~", "#": result += "\\\(scalar)"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Returns the text as code in a cell of a table: only the bar ends it, and as many backticks as begin it.
private func markdownCode(_ text: String) -> String {
    let text = shown(text).split(separator: "|", omittingEmptySubsequences: false)
        .joined(separator: "\\|")
    var longest = 0
    var run = 0
    for scalar in text.unicodeScalars {
        run = scalar == "`" ? run + 1 : 0
        longest = max(longest, run)
    }
    let fence = String(repeating: "`", count: longest + 1)
    let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
    return fence + space + text + space + fence
}

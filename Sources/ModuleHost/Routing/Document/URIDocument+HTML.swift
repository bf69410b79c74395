extension URIDocument {
    /// The document as one page that needs nothing else, neither a server nor the network.
    ///
    /// Each route is a row of class `route`. Typing into the filter hides rows; so does
    /// `#filter=words` behind the page's address, which the filter keeps up to date.
    var html: String {
        let script = String(decoding: PackageResources.page_js, as: UTF8.self)
        return filledTemplate(
            PackageResources.page_html_template,
            [
                "__TITLE__": "URIs of \(htmlText(app))", "__VERSION__": HostVersion.current,
                "__INTRODUCTION__": introduction,
                "__ROUTES__": routes.isEmpty ? "<p>No module has routes.</p>" : table,
                "__SCRIPT__": routes.isEmpty ? "" : "<script>\n\(script)\n</script>",
            ])
    }

    private var introduction: String {
        var sentences = ["\(count)."]
        if let scheme = schemes.first {
            sentences.append(
                "A URL begins with <code>\(htmlText(scheme))://</code> and the module, "
                    + "or with the route alone, which the first module that has it answers.")
        }
        if let fallback {
            sentences.append(
                "URLs that no module answers go to <code>\(htmlText(fallback))</code>.")
        }
        sentences += closingSentences { "<code>\(htmlText($0))</code>" }.map { $0 + "." }
        return sentences.joined(separator: " ")
    }

    private var table: String {
        filledTemplate(
            PackageResources.routes_html_template,
            [
                "__COUNT__": "\(routes.count) \(routes.count == 1 ? "route" : "routes")",
                "__MODULES__": modules.map(Self.group).joined(separator: "\n"),
            ])
    }

    private static func group(_ module: (id: String, routes: ArraySlice<Route>)) -> String {
        """
        <tbody role="rowgroup">
        <tr class="module" role="row"><th colspan="5" scope="rowgroup" role="rowheader">\
        \(htmlText(module.id))</th></tr>
        \(module.routes.map(\.htmlRow).joined(separator: "\n"))
        </tbody>
        """
    }
}

extension URIDocument.Route {
    fileprivate var htmlRow: String {
        var name = "<code>\(htmlPattern(pattern))</code>"
        if action != pattern { name += "<br>action <code>\(htmlText(action))</code>" }
        if !summary.isEmpty { name += "<p>\(htmlText(summary))</p>" }
        if let lateness { name += "<p>\(lateness)</p>" }
        var list = parameters.map(\.htmlItem)
        if isPartial {
            list.append("<li><span>and more: the type does not list them all</span></li>")
        }
        return """
            <tr class="route" role="row">\
            <th scope="row" role="rowheader">\(name)</th>\
            <td role="cell" data-label="Access"><b class="\(access.rawValue)">\
            \(access.rawValue)</b></td>\
            <td role="cell" data-label="Parameters">\
            \(list.isEmpty ? "" : "<ul>\(list.joined())</ul>")</td>\
            <td role="cell" data-label="Reply">\
            \(reply.map { "<code>\(htmlText($0))</code>" } ?? "")</td>\
            <td role="cell" data-label="Example">\
            \(example.map { "<code class=\"url\">\(htmlText($0))</code>" } ?? "")</td></tr>
            """
    }
}

extension URIDocument.Parameter {
    fileprivate var htmlItem: String {
        let type = type ?? (isList ? "[String]" : "String")
        var words: [String] = []
        if expectation != "text" { words.append(htmlText(expectation)) }
        if !isRequired { words.append("optional") }
        let notes = words.isEmpty ? "" : " <span>\(words.joined(separator: ", "))</span>"
        return "<li><code>\(htmlText(name)): <i>\(htmlText(type))</i></code>\(notes)</li>"
    }
}

/// Returns a pattern with its names set off from the literal parts.
private func htmlPattern(_ pattern: String) -> String {
    var html = ""
    var rest = Substring(pattern)
    while let start = rest.firstIndex(where: { $0 == ":" || $0 == "*" }) {
        let name = rest[start...].dropFirst().prefix {
            $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-"
        }
        let isName = rest[start] == "*" || !name.isEmpty
        html += htmlText(rest[..<start])
        let word = htmlText(rest[start..<name.endIndex])
        html += isName ? "<i>\(word)</i>" : word
        rest = rest[name.endIndex...]
    }
    return html + htmlText(rest)
}

/// Returns the text with every character escaped that would end it, in an element or in a quoted attribute.
package func htmlText(_ text: some StringProtocol) -> String {
    var result = ""
    for scalar in shown(String(text)).unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "'": result += "&#39;"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

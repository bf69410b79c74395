extension URIDocument {
    /// The document as one page that needs nothing else, neither a server nor the network.
    ///
    /// Each route is a row of class `route`. Typing into the filter hides rows; so does
    /// `#filter=words` behind the page's address, which the filter keeps up to date.
    var html: String {
        let title = "URIs of \(htmlText(app))"
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
            style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
            base-uri 'none'; form-action 'none'">
            <meta name="generator" content="hostd \(HostVersion.current)">
            <link rel="icon" href="data:,">
            <title>\(title)</title>
            <style>
            \(URIDocumentPage.style)
            </style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p>\(introduction)</p>
            <p><b class="public">public</b> for every caller, <b class="authorized">authorized</b> with a \
            token, <b class="local">local</b> for the modules of the app.</p>
            </header>
            <main>
            \(routes.isEmpty ? "<p>No module has routes.</p>" : table)
            </main>
            \(routes.isEmpty ? "" : "<script>\n\(URIDocumentPage.script)\n</script>")
            </body>
            </html>

            """
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
        """
        <div class="filter" role="search">
        <label for="filter">Filter</label>
        <input id="filter" type="search" autocomplete="off" spellcheck="false" \
        placeholder="route, parameter, summary …" aria-keyshortcuts="/" \
        aria-controls="routes"><kbd title="The key / leads here">/</kbd>
        <output id="count" for="filter">\(routes.count) \(routes.count == 1 ? "route" : "routes")\
        </output>
        </div>
        <table id="routes" role="table">
        <caption>Routes by module</caption>
        <thead role="rowgroup">
        <tr role="row"><th scope="col" role="columnheader">Route</th>\
        <th scope="col" role="columnheader">Access</th>\
        <th scope="col" role="columnheader">Parameters</th>\
        <th scope="col" role="columnheader">Reply</th>\
        <th scope="col" role="columnheader">Example</th></tr>
        </thead>
        \(modules.map(Self.group).joined(separator: "\n"))
        </table>
        <p id="none" hidden>No route has all these words.</p>
        """
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

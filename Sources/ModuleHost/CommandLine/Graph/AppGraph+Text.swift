extension AppGraph {
    /// The number of modules in words.
    var count: String { modules.count == 1 ? "1 module" : "\(modules.count) modules" }

    /// The graph as lines: each module, and below it what it declares.
    var text: String {
        var text = "\(shown(app)): \(count)\n"
        for module in modules {
            text += "\n\(module.id.text)  \(module.summary.map(shown).joined(separator: ", "))\n"
            for row in module.rows { text += "  \(row.label.padded(to: 8))  \(shown(row.text))\n" }
        }
        return text
    }

    /// The graph in the language of Graphviz.
    var dot: String {
        var text = """
            digraph \(Self.quoted(app)) {
              rankdir=LR
              node [shape=box, fontname="sans-serif", fontsize=11]
              edge [fontname="sans-serif", fontsize=9]

            """
        for module in modules {
            let label = ([module.id.text] + module.summary).map(Self.escaped).joined(
                separator: "\\n")
            text += "  \(Self.quoted(module.id.text)) [label=\"\(label)\"]\n"
        }
        for module in modules {
            for row in module.rows {
                let from = Self.quoted(module.id.text)
                switch (row.kind, row.target) {
                case (.topics, _):
                    let topic = "topic \(row.text)"
                    text += "  \(Self.quoted(topic)) [shape=ellipse]\n"
                    text += "  \(Self.quoted(topic)) -> \(from) [style=dotted]\n"
                case (.posts, _):
                    let topic = "topic \(row.text)"
                    text += "  \(Self.quoted(topic)) [shape=ellipse]\n"
                    text += "  \(from) -> \(Self.quoted(topic)) [style=dotted]\n"
                case (.needs, let target?):
                    text += "  \(from) -> \(Self.quoted(target.text)) [label=\"needs\"]\n"
                case (.uses, let target?), (.calls, let target?):
                    let style = row.kind == .uses ? "dashed" : "dotted"
                    text += "  \(from) -> \(Self.quoted(target.text)) "
                    text += "[style=\(style), label=\(Self.quoted(row.name))]\n"
                case (.provides, _), (_, nil): break
                }
            }
        }
        return text + "}\n"
    }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    private static func escaped(_ text: String) -> String {
        // By scalars, since an accent behind a quotation mark makes another character of it, but not for Graphviz.
        var escaped = String.UnicodeScalarView()
        for scalar in shown(text).unicodeScalars {
            if scalar == "\\" || scalar == "\"" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }

    /// The graph as one object, whose form is stable from version to version: members may be added, none is
    /// renamed, removed or given another type.
    ///
    /// ```text
    /// {
    ///   "app": "demo",
    ///   "modules": [
    ///     {
    ///       "id": "com.mm.digest", "entry": "App.DigestModule",
    ///       "main": false, "required": false, "isolated": false,
    ///       "lazy": false,
    ///       "needs": ["com.mm.community"], "provides": [],
    ///       "uses": [{ "name": "UserDirectory", "module": "com.mm.community" }],
    ///       "calls": [{ "name": "posts", "module": "com.mm.community" }],
    ///       "topics": ["digest.wanted"], "posts": ["digest.sent"]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// `posts` is left out where it is empty. `module` is null where it is not known before the app runs.
    var json: String {
        var json = JSONWriter()
        json.object {
            $0.member("app", app)
            $0.member("modules") {
                $0.array { json in for module in modules { module.write(to: &json) } }
            }
        }
        json.newline()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension AppGraph.Module {
    /// The kinds of rows below a module, in their order.
    enum RowKind: String, Hashable, CaseIterable {
        case needs, provides, uses, calls, topics, posts
    }

    /// One thing that a module declares.
    struct Row {
        let kind: RowKind
        let name: String
        var target: ModuleID?

        var label: String { kind.rawValue }
        /// The name, with the module where the name does not say it.
        var text: String {
            guard let target, kind != .needs else { return name }
            return "\(name) of \(target)"
        }
    }

    var rows: [Row] {
        needs.map { Row(kind: .needs, name: $0.text, target: $0) }
            + provides.map { Row(kind: .provides, name: $0) }
            + uses.map { Row(kind: .uses, name: $0.name, target: $0.module) }
            + calls.map { Row(kind: .calls, name: $0.name, target: $0.module) }
            + topics.map { Row(kind: .topics, name: $0) }
            + posts.map { Row(kind: .posts, name: $0) }
    }

    fileprivate func write(to json: inout JSONWriter) {
        func write(_ uses: [AppGraph.Use], _ json: inout JSONWriter) {
            json.objects(for: uses) { use, json in
                json.member("name", use.name)
                json.member("module") { json in
                    if let id = use.module { json.value(id.text) } else { json.null() }
                }
            }
        }
        json.object {
            $0.member("id", id.text)
            $0.member("entry", entry)
            $0.member("main", isMain)
            $0.member("required", isRequired)
            $0.member("isolated", isIsolated)
            $0.member("lazy", isLazy)
            $0.member("needs", needs.map(\.text))
            $0.member("provides", provides)
            $0.member("uses") { write(uses, &$0) }
            $0.member("calls") { write(calls, &$0) }
            $0.member("topics", topics)
            if !posts.isEmpty { $0.member("posts", posts) }
        }
    }
}

/// The members that say where a package is, before they are checked together: their nodes.
struct SourceMembers {
    var git: Int?
    var branch: Int?
    var tag: Int?
    var path: Int?
}

extension SlatefileReader {
    /// Returns the source of the package ModuleHost.
    mutating func host(_ node: Int) -> Slatefile.Source? {
        var found = SourceMembers()
        members(of: node, as: HostKey.self, "an object") { _, key, node in
            switch key {
            case .git: found.git = node
            case .branch: found.branch = node
            case .tag: found.tag = node
            case .path: found.path = node
            }
        }
        let source = source(found, of: "the host")
        if found.git == nil, found.path == nil, nodes[node].kind == .object {
            report(.source("'host' needs a 'git' repository or a 'path'"), at: node)
        }
        return source
    }

    /// Returns the source that the members name together; nil for none, or an invalid one.
    mutating func source(_ found: SourceMembers, of owner: StaticString) -> Slatefile.Source? {
        let git = found.git.flatMap {
            sourceText($0, "the URL of a repository", SourceRules.problem(ofRepository:))
        }
        let branch = found.branch.flatMap {
            sourceText($0, "the name of a branch", SourceRules.problem(ofReference:))
        }
        let tag = found.tag.flatMap {
            sourceText($0, "the name of a tag", SourceRules.problem(ofReference:))
        }
        let path = found.path.flatMap {
            sourceText($0, "a path", SourceRules.problem(ofFolder:))
        }
        if found.git != nil, let node = found.path {
            report(.source("\(owner)'s source is either 'git' or 'path', not both"), at: node - 1)
        }
        if found.branch != nil, let node = found.tag {
            report(.source("give either 'branch' or 'tag', not both"), at: node - 1)
        }
        if found.git == nil, let node = found.branch ?? found.tag {
            report(
                .source("'\(document.writtenString(node - 1))' needs a 'git' repository"),
                at: node - 1)
        }
        if let git {
            return .git(git, branch.map { .branch($0) } ?? tag.map { .tag($0) })
        }
        return path.map { .path($0) }
    }

    /// Returns the name of a product.
    mutating func product(_ node: Int) -> String? {
        sourceText(node, "the name of a product", SourceRules.problem(ofProduct:))
    }

    private mutating func sourceText(
        _ node: Int, _ what: StaticString, _ problem: (String) -> String?
    ) -> String? {
        guard let text = nonEmptyString(node, what) else { return nil }
        guard let reason = problem(text) else { return text }
        report(.source(reason), at: node)
        return nil
    }
}

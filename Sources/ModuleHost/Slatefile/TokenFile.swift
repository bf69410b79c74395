extension TokenStore {
    /// Reads and checks a file of tokens, and finds every problem in one pass.
    ///
    /// Accepts any bytes. No diagnostic shows text of the file: it could be a token.
    ///
    /// - Parameters:
    ///   - bytes: The file's content: an array of objects.
    ///   - path: The file's path, for messages.
    ///   - schemes: The app's schemes, in lower case.
    /// - Returns: The tokens.
    /// - Throws: Every diagnostic, each with its place and without its line.
    package static func read(
        _ bytes: [UInt8], path: String, schemes: [String]
    ) throws(SlatefileError) -> TokenStore {
        var parser = JSONParser(bytes, diagnosticLimit: Slatefile.Limits.diagnostics)
        parser.parse()
        let document = JSONDocument(bytes: bytes, nodes: parser.nodes)
        let diagnostics = parser.diagnostics.map {
            ($0.offset, SlatefileDiagnostic.Kind.json($0.kind))
        }
        guard parser.isWhole else {
            throw SlatefileError(diagnostics, in: document, path: path, isSecret: true)
        }
        var reader = SlatefileReader(document, diagnostics: diagnostics, checkEntry: nil)
        let entries = reader.tokens(schemes)
        guard reader.diagnostics.isEmpty else {
            throw SlatefileError(reader.diagnostics, in: document, path: path, isSecret: true)
        }
        return TokenStore(entries)
    }
}

/// The keys of a token.
enum TokenKey: String, KnownKey {
    case token, name, scopes, expires

    static let mandatory: [TokenKey] = [.token, .name, .scopes]
    static let table = KeyTable<TokenKey>()
}

extension SlatefileReader {
    fileprivate mutating func tokens(_ appSchemes: [String]) -> [TokenStore.Entry] {
        let limit = (TokenStore.Limits.tokens, "tokens" as StaticString)
        var first: [String: Int] = [:]
        var entries: [TokenStore.Entry] = []
        for element in elements(of: 0, "an array of tokens", limit: limit) {
            var token: String?
            var name: String?
            var scopes: [Grant.Scope] = []
            var expires: DateTime?
            members(of: element, as: TokenKey.self, "a token: an object") { reader, key, node in
                switch key {
                case .token: token = reader.token(node, &first)
                case .name: name = reader.tokenName(node)
                case .scopes: scopes = reader.scopes(node, appSchemes)
                case .expires: expires = reader.time(node)
                }
            }
            guard let token, let name else { continue }
            entries.append(
                TokenStore.Entry(
                    token: RouteToken(token), grant: Grant(name: name, scopes: scopes),
                    expires: expires))
        }
        return entries
    }

    private mutating func token(_ node: Int, _ first: inout [String: Int]) -> String? {
        guard let text = string(node) else { return nil }
        guard TokenStore.Limits.tokenLength ~= text.utf8.count,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else {
            report(.token(.malformed), at: node)
            return nil
        }
        if let earlier = first[text] {
            let first = place(of: earlier)
            report(.token(.repeated(first: first)), at: node)
            return nil
        }
        first[text] = node
        return text
    }

    private mutating func tokenName(_ node: Int) -> String? {
        guard let name = string(node) else { return nil }
        let isVisible = name.unicodeScalars.allSatisfy { printable($0) == $0 }
        if isVisible, !name.isEmpty, name.count <= Slatefile.Limits.nameLength { return name }
        report(.token(.name), at: node)
        return nil
    }

    private mutating func scopes(_ node: Int, _ appSchemes: [String]) -> [Grant.Scope] {
        let limit = (TokenStore.Limits.scopes, "scopes" as StaticString)
        let elements = elements(of: node, "an array of scopes", limit: limit)
        if elements.isEmpty, nodes[node].kind == .array { report(.token(.noScopes), at: node) }
        var scopes: [Grant.Scope] = []
        for element in elements {
            guard let text = string(element, "a scope such as \"slate://com.mm.community/*\"")
            else { continue }
            do throws(RoutePatternError) {
                let pattern = try RoutePattern(text)
                if pattern.isAbsolute, pattern.queryNames.isEmpty {
                    scopes.append(Grant.Scope(pattern, appSchemes: appSchemes))
                } else {
                    report(.token(pattern.isAbsolute ? .scopeQuery : .scopeScheme), at: element)
                }
            } catch {
                report(.token(.scope(error)), at: element)
            }
        }
        return scopes
    }

    private mutating func time(_ node: Int) -> DateTime? {
        guard let text = string(node, "a time such as \"2027-01-01T00:00:00Z\"") else { return nil }
        if let time = DateTime(text) { return time }
        report(.token(.time), at: node)
        return nil
    }
}

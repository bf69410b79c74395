import AppService

extension Slatefile {
    /// Reads and checks a slatefile, and finds every problem in one pass; entries are not looked up.
    ///
    /// Accepts any bytes.
    ///
    /// - Parameters:
    ///   - bytes: The file's content, at most 16 MiB of UTF-8.
    ///   - path: The file's path, for messages.
    ///   - environment: Returns the value of an environment variable, nil if it is not set. Asked
    ///     for each `${NAME}` in a string of a `config`.
    /// - Returns: The slatefile, every default filled in.
    /// - Throws: Every diagnostic, each with its place.
    public static func read(
        _ bytes: [UInt8], path: String, environment: (_ name: String) -> String?
    ) throws(SlatefileError) -> Slatefile {
        try read(bytes, path: path, environment: environment, checkEntry: nil)
    }

    /// Reads and checks a slatefile, and finds every problem in one pass.
    ///
    /// Accepts any bytes. Nothing is read but the bytes, the environment and the input of `checkEntry`.
    ///
    /// - Parameters:
    ///   - bytes: The file's content, at most 16 MiB of UTF-8.
    ///   - path: The file's path, for messages.
    ///   - environment: Returns the value of an environment variable, nil where it is not set. Called for
    ///     each `${NAME}` in a string of a `config`.
    ///   - checkEntry: Returns the problem with an entry. Called once for each enabled module that has a
    ///     well-formed entry, in order, whatever other problems the file has; and for a better message about
    ///     each entry that is not well-formed. Not called once the file has as many diagnostics as are shown.
    ///     Nil checks no entries.
    ///   - part: The part that the app has: other modules are not enabled. Nil for all.
    /// - Returns: The slatefile, every default filled in.
    /// - Throws: Every diagnostic, each with its place.
    package static func read(
        _ bytes: [UInt8], path: String,
        environment: (_ name: String) -> String?,
        checkEntry: ((EntryUse) -> [EntryDiagnostic])?, part: SlatefilePart? = nil
    ) throws(SlatefileError) -> Slatefile {
        var parser = JSONParser(bytes, diagnosticLimit: Limits.diagnostics)
        parser.parse()
        var document = JSONDocument(bytes: bytes, nodes: parser.nodes)
        var diagnostics = parser.diagnostics.map {
            ($0.offset, SlatefileDiagnostic.Kind.json($0.kind))
        }
        // Members that seem to be missing from an incomplete tree may stand in the missing part.
        guard parser.isWhole else { throw SlatefileError(diagnostics, in: document, path: path) }

        var unexpanded: Set<Int> = []
        if parser.hasDollar {
            let expansion = ConfigExpansion(document, environment: environment)
            document = JSONDocument(
                bytes: bytes, nodes: parser.nodes, expansions: expansion.expansions)
            diagnostics += expansion.diagnostics
            unexpanded = expansion.unexpanded
        }
        var reader = SlatefileReader(
            document, diagnostics: diagnostics, checkEntry: checkEntry, part: part,
            unexpanded: unexpanded)
        let slatefile = reader.slatefile()
        guard reader.diagnostics.isEmpty, let slatefile else {
            throw SlatefileError(reader.diagnostics, in: document, path: path)
        }
        return slatefile
    }
}

/// One pass over the tree of a slatefile: the model as far as it is valid, and every diagnostic.
struct SlatefileReader {
    let document: JSONDocument
    /// The document's own tables, stored here because every key is looked up in them.
    let nodes: [JSONNode]
    let bytes: [UInt8]
    let checkEntry: ((EntryUse) -> [EntryDiagnostic])?
    let part: SlatefilePart?
    private(set) var diagnostics: [(offset: Int, kind: SlatefileDiagnostic.Kind)]
    private var source: SourceText
    /// The checks of what entries use of other modules, with the nodes of the entries.
    var uses: [(entry: Int, check: (Slatefile) -> [String])] = []
    /// The last valid entry: modules that follow one another with the same entry share its text.
    var lastEntry: String?
    /// Whether ``Slatefile/Deadlines/event`` is what the slatefile says.
    var isEventDeadlineValid = true
    /// The offsets of strings with an error in a variable: what is said of their text would only follow from it.
    private let unexpanded: Set<Int>
    /// The modules with an `instead`, and its nodes.
    var insteadNodes: [(ModuleID, Int)] = []
    /// Whether each module was read, so that ``uses`` can be checked.
    var areModulesValid = false

    init(
        _ document: JSONDocument, diagnostics: [(offset: Int, kind: SlatefileDiagnostic.Kind)],
        checkEntry: ((EntryUse) -> [EntryDiagnostic])?, part: SlatefilePart? = nil,
        unexpanded: Set<Int> = []
    ) {
        self.part = part
        self.unexpanded = unexpanded
        self.document = document
        nodes = document.nodes
        bytes = document.bytes
        self.diagnostics = diagnostics
        source = SourceText(document.bytes)
        self.checkEntry = checkEntry
    }

    // MARK: Diagnostics

    /// Notes a diagnostic for the value or key at `node`, unless the parser has noted one there already.
    mutating func report(_ kind: SlatefileDiagnostic.Kind, at node: Int) {
        guard nodes[node].kind != .invalid, !nodes[node].flags.contains(.faulty) else { return }
        report(kind, atOffset: Int(nodes[node].start))
    }

    mutating func report(_ kind: SlatefileDiagnostic.Kind, atOffset offset: Int) {
        if hasRoom { diagnostics.append((offset, kind)) }
    }

    /// Reports the diagnostics of decoding a value of this document.
    mutating func report(_ error: UnplacedJSONError) {
        for diagnostic in error.diagnostics where !unexpanded.contains(diagnostic.offset) {
            report(.json(diagnostic.kind), atOffset: diagnostic.offset)
        }
    }

    /// Whether one more diagnostic would be shown: if not, its message need not be built.
    var hasRoom: Bool { diagnostics.count < Slatefile.Limits.diagnostics }

    mutating func mismatch(_ expected: String, at node: Int) {
        report(.json(.mismatch(expected: expected, found: value(node).inWords)), at: node)
    }

    /// Returns the place of the value at `node`, for a message about another one.
    mutating func place(of node: Int) -> TextPlace { source.place(of: Int(nodes[node].start)) }

    func value(_ node: Int) -> JSONValue { JSONValue(document: document, node: node) }

    // MARK: Objects and arrays

    /// Passes each known member of the object at `node` to `body`, and reports keys that are unknown or
    /// missing, and a value that is not an object.
    @inline(__always)
    mutating func members<Key: KnownKey>(
        of node: Int, as type: Key.Type, _ expected: StaticString,
        _ body: (inout Self, _ key: Key, _ value: Int) -> Void
    ) {
        guard nodes[node].kind == .object else { return mismatch("\(expected)", at: node) }
        let table = Key.table
        let end = Int(nodes[node].next)
        var member = node + 1
        var known = 0
        while member < end {
            let value = member + 1
            if let key = key(at: member, in: table) {
                known += 1
                body(&self, key, value)
            } else if hasRoom {
                unknownKey(member, among: Key.allCases.map(\.rawValue), Key.remedy)
            }
            member = Int(nodes[value].next)
        }
        if known < Key.allCases.count { missingKeys(of: node, as: type) }
    }

    @inline(__always)
    private func key<Key>(at node: Int, in table: KeyTable<Key>) -> Key? {
        let entry = nodes[node]
        guard entry.flags.isDisjoint(with: [.escaped, .faulty]) else {
            return Key(rawValue: document.writtenString(node))
        }
        let start = Int(entry.start) + 1
        return table.key(spelt: start..<start + Int(entry.length) - 2, of: bytes)
    }

    private mutating func unknownKey(
        _ node: Int, among keys: [String], _ remedy: (String) -> String?
    ) {
        let text = document.writtenString(node)
        if let remedy = remedy(text) { return report(.foreignKey(text, remedy), at: node) }
        let nearest = nearestName(to: text, in: keys)
        report(.json(.unknownKey(text, nearest: nearest)), at: node)
    }

    @inline(__always)
    private mutating func missingKeys<Key: KnownKey>(of node: Int, as type: Key.Type) {
        for key in Key.mandatory where document.value(of: key.rawValue, in: node) == nil {
            report(.json(.missingKey(key.rawValue)), at: node)
        }
    }

    /// Returns the nodes of the elements of the array at `node`; none, and a diagnostic, if it is not an
    /// array or is longer than `limit`.
    mutating func elements(
        of node: Int, _ expected: StaticString, limit: (count: Int, of: StaticString)
    ) -> [Int] {
        guard nodes[node].kind == .array else {
            mismatch("\(expected)", at: node)
            return []
        }
        var elements: [Int] = []
        var element = node + 1
        while element < nodes[node].next {
            guard elements.count < limit.count else {
                report(.tooMany("\(limit.of)", limit: limit.count), at: element)
                return []
            }
            elements.append(element)
            element = Int(nodes[element].next)
        }
        return elements
    }

    // MARK: Single values

    mutating func string(_ node: Int, _ expected: StaticString = "a string") -> String? {
        guard nodes[node].kind == .string else {
            mismatch("\(expected)", at: node)
            return nil
        }
        return document.writtenString(node)
    }

    /// Returns a string with at least one character; `what` names it for the message.
    mutating func nonEmptyString(_ node: Int, _ what: StaticString) -> String? {
        guard let text = string(node) else { return nil }
        if !text.isEmpty { return text }
        report(.empty("\(what)"), at: node)
        return nil
    }

    mutating func bool(_ node: Int) -> Bool? {
        switch nodes[node].kind {
        case .true: return true
        case .false: return false
        default:
            mismatch("true or false", at: node)
            return nil
        }
    }

    mutating func integer(_ node: Int, in allowed: ClosedRange<Int>) -> Int? {
        let value = value(node)
        guard value.kind == .number, !nodes[node].flags.contains(.fractional) else {
            mismatch("a whole number", at: node)
            return nil
        }
        if let int = value.int, allowed ~= int { return int }
        report(.outOfRange(value.text, allowed: allowed), at: node)
        return nil
    }

    mutating func duration(_ node: Int) -> Duration? {
        if nodes[node].kind == .number {
            report(.duration(.unitless(value(node).text)), at: node)
            return nil
        }
        guard let text = string(node, "a duration such as \"2s\"") else { return nil }
        do throws(DurationError) {
            return try DurationReader.read(text)
        } catch {
            report(.duration(error), at: node)
            return nil
        }
    }

    mutating func size(_ node: Int, in allowed: ClosedRange<Int>) -> Int? {
        guard let text = string(node, "a size such as \"64MiB\"") else { return nil }
        if let bytes = ByteSize.read(text), allowed ~= bytes { return bytes }
        report(.size(text, allowed: allowed), at: node)
        return nil
    }

    mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ node: Int, as type: Word.Type
    ) -> Word? {
        guard let text = string(node) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let allowed = Word.allCases.map(\.rawValue)
        report(
            .unknownWord(text, allowed: allowed, nearest: nearestName(to: text, in: allowed)),
            at: node)
        return nil
    }

    mutating func moduleID(_ node: Int) -> ModuleID? {
        guard nodes[node].kind == .string else {
            mismatch("a module id", at: node)
            return nil
        }
        let text = document.writtenString(node)
        if let error = ModuleID.error(in: text.utf8) {
            report(.malformedID(error), at: node)
            return nil
        }
        return ModuleID(checked: text)
    }
}

extension SlatefileError {
    /// Computes the places of diagnostics, each given by its offset, of the first thousand; where the document
    /// `isSecret` they show no text of it.
    init(
        _ diagnostics: [(offset: Int, kind: SlatefileDiagnostic.Kind)], in document: JSONDocument,
        path: String, isSecret: Bool = false
    ) {
        self.path = path
        var text = SourceText(document.bytes)
        let shown = diagnostics.sortedByNumber(\.offset).prefix(Slatefile.Limits.diagnostics)
        self.diagnostics = shown.map { diagnostic in
            let place = text.place(of: diagnostic.offset)
            guard !isSecret else {
                return SlatefileDiagnostic(
                    kind: diagnostic.kind.concealed,
                    pointer: document.concealedPointer(atOffset: diagnostic.offset), place: place,
                    source: .none)
            }
            return SlatefileDiagnostic(
                kind: diagnostic.kind, pointer: document.pointer(atOffset: diagnostic.offset),
                place: place,
                source: SourceExcerpt(
                    around: diagnostic.offset, in: document.bytes, lineStart: text.lineStart))
        }
    }
}

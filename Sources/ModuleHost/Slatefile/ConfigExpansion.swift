/// The substitution of environment variables in the settings of a slatefile.
///
/// In every string of a `config`, the app's or a module's, `${NAME}` becomes the value of the variable, and
/// `$${` a literal `${`. Keys stay as they are, and the value of a variable is not expanded again.
struct ConfigExpansion {
    private let document: JSONDocument
    private(set) var expansions: [Int: JSONDocument.Expansion] = [:]
    private(set) var diagnostics: [(offset: Int, kind: SlatefileDiagnostic.Kind)] = []
    /// The offsets of the strings with a diagnostic.
    private(set) var unexpanded: Set<Int> = []

    /// Expands the app's `config` and those of the modules.
    init(_ document: JSONDocument, environment: (String) -> String?) {
        self.document = document
        if let config = document.root[AppKey.config.rawValue] { expand(config, environment) }
        guard let modules = document.root[AppKey.modules.rawValue] else { return }
        for module in modules.elements {
            if let config = module[ModuleKey.config.rawValue] { expand(config, environment) }
        }
    }

    private mutating func expand(_ value: JSONValue, _ environment: (String) -> String?) {
        switch value.kind {
        case .string: expand(stringAt: value.node, environment)
        case .array: for element in value.elements { expand(element, environment) }
        case .object: for member in value.members { expand(member.value, environment) }
        case .null, .bool, .number: break
        }
    }

    private mutating func expand(stringAt node: Int, _ environment: (String) -> String?) {
        guard document.nodes[node].flags.contains(.dollar) else { return }
        let written = Array(document.writtenString(node).utf8)
        var text: [UInt8] = []
        var isSecret = false
        var rest = written[...]
        while let byte = rest.first {
            if rest.starts(with: "$${".utf8) {
                text += "${".utf8
                rest = rest.dropFirst(3)
            } else if rest.starts(with: "${".utf8) {
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")),
                    Self.isVariableName(rest[(rest.startIndex + 2)..<end])
                else { return report(.malformedVariable, at: rest.startIndex, of: node) }
                let name = String(decoding: rest[(rest.startIndex + 2)..<end], as: UTF8.self)
                if let value = environment(name) {
                    if NonUTF8Variables.contain(name, value) {
                        report(.variableNotUTF8(name), at: rest.startIndex, of: node)
                    }
                    text += value.utf8
                } else {
                    report(.unsetVariable(name), at: rest.startIndex, of: node)
                }
                isSecret = true
                rest = rest[(end + 1)...]
            } else {
                text.append(byte)
                rest = rest.dropFirst()
            }
        }
        guard text != written else { return }
        expansions[node] = JSONDocument.Expansion(
            text: String(decoding: text, as: UTF8.self), isSecret: isSecret)
    }

    /// Reports a problem at the variable itself, or at the string where escapes hide the variable's place.
    private mutating func report(_ kind: SlatefileDiagnostic.Kind, at index: Int, of node: Int) {
        guard diagnostics.count < Slatefile.Limits.diagnostics else { return }
        let entry = document.nodes[node]
        unexpanded.insert(entry.range.lowerBound)
        let isPlain = entry.flags.isDisjoint(with: [.escaped, .faulty])
        diagnostics.append((entry.range.lowerBound + (isPlain ? index + 1 : 0), kind))
    }

    /// The regular expression of the JSON Schema for the name of a variable.
    static let variablePattern = "^[A-Za-z_][A-Za-z0-9_]*$"

    /// Returns whether a shell accepts the text as the name of a variable.
    static func isVariableName(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, !(0x30..<0x3A ~= first) else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

import ModuleHost
import TestSupport
import Testing

/// Text that tries to take over a terminal, or to pass for a line of the host's own.
struct HostileText {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// What lines are forged as: none of what is printed may begin with it.
    static let forged = "FORGED LINE"

    private static let parts = [
        "\n\(forged)", "\n\(forged)", "\r\(forged)", "\u{1B}[2J", "\u{1B}]0;pwned\u{7}",
        "\u{9B}31m",
        "\u{85}\(forged)", "\u{2028}\(forged)", "\u{2029}\(forged)", "\u{7F}", "\u{8}\u{8}",
        "\u{B}\u{C}", "\u{202E}txt.exe", "\u{2066}x\u{2069}", "\u{200E}\u{200F}\u{61C}",
        "\u{200B}\u{2060}\u{FEFF}", "\u{FFF9}x\u{FFFB}", "\t", "'", "\"", "\\n", "%s%n", "ünï",
        "👨\u{200D}👩",
        "a", "plain words", "x.main", "push",
    ]

    /// A text of a few such parts, without the character that no argument of a program can have.
    mutating func text() -> String {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in
            Self.parts.randomElement(using: &random) ?? ""
        }.joined()
    }

    /// The same as a string of JSON, in which only what JSON forbids is escaped.
    mutating func jsonString() -> String { Self.quoted(text()) }

    static func quoted(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                json += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }

    /// A JSON text in which some strings and keys, and now and then another value, are such texts.
    ///
    /// - Parameters:
    ///   - template: What is usual.
    ///   - chance: How many of ten are exchanged.
    /// - Returns: The text.
    mutating func json(like template: JSONValue, chance: Int = 4) -> String {
        switch template.kind {
        case .object:
            let members = template.members.map { member in
                (isLikely(chance / 4) ? jsonString() : Self.quoted(member.key))
                    + ":\(json(like: member.value, chance: chance))"
            }
            return "{\(members.joined(separator: ","))}"
        case .array:
            let elements = template.elements.map { json(like: $0, chance: chance) }
            return "[\(elements.joined(separator: ","))]"
        case .string:
            return isLikely(chance) ? jsonString() : Self.quoted(template.string ?? "")
        case .null, .bool, .number: return isLikely(chance / 3) ? jsonString() : template.text
        }
    }

    mutating func json(like template: String, chance: Int = 4) throws -> String {
        json(like: try JSONValue(parsing: template), chance: chance)
    }

    /// Whether something is to be that happens so often in ten.
    mutating func isLikely(_ chance: Int) -> Bool {
        Int.random(in: 0..<10, using: &random) < chance
    }

    // MARK: What is printed

    /// Says where a text has what a terminal obeys, or a line that the host did not write; nil where it has not.
    static func problem(in text: String, isJSON: Bool = false) -> String? {
        for scalar in text.unicodeScalars where isObeyed(scalar) {
            // A line of a file that is shown has its tabs.
            if scalar == "\n" || scalar == "\t" && !isJSON { continue }
            return "U+\(String(scalar.value, radix: 16)) is printed"
        }
        let isForged = text.split(separator: "\n").contains { $0.hasPrefix(forged) }
        return isForged ? "a line is forged" : nil
    }

    /// By the properties of Unicode, and not by the list that the host has.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }
}

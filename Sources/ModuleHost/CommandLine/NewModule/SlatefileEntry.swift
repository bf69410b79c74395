/// The entry of a module in a slatefile: the members of an object, in order, the values as JSON.
struct SlatefileEntry {
    var members: [(key: String, value: String)]

    /// The entry on one line.
    var line: String { "{ " + texts.joined(separator: ", ") + " }" }

    /// Returns the entry with a line for each member, all but the first behind `indentation`.
    func lines(_ indentation: String, newline: String = "\n") -> String {
        let separator = newline + indentation
        return "{" + separator + "  " + texts.joined(separator: ",\(separator)  ") + separator + "}"
    }

    private var texts: [String] { members.map { "\"\($0)\": \($1)" } }
}

/// The text of a slatefile, to which an entry can be added while the rest stays unchanged.
struct SlatefileText {
    private let bytes: [UInt8]
    private let modules: JSONValue
    /// The module that answers URLs that no other one does, if there is one: it must be last.
    private let fallback: JSONValue?

    /// - Throws: An error where it is not JSON, or has no modules; in words, with the place.
    init(_ bytes: [UInt8]) throws(FormatError) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONValue(parsing: bytes)
        } catch {
            throw FormatError(description: "\(error)")
        }
        guard let modules = root["modules"], modules.kind == .array, modules.count > 0 else {
            throw FormatError(description: "it has no list of modules")
        }
        self.bytes = bytes
        self.modules = modules
        let name = root["fallback"]?.string
        fallback = modules.elements.first { name != nil && $0["id"]?.string == name }
    }

    struct FormatError: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns whether a module has this id, in any case.
    func has(_ id: ModuleID) -> Bool {
        modules.elements.contains { $0["id"]?.string?.lowercased() == id.text.lowercased() }
    }

    /// Returns the text with an entry behind the last module, or before the fallback, in the same style.
    func adding(_ entry: SlatefileEntry) -> [UInt8] {
        let neighbour = fallback ?? modules.elements.reduce(modules) { $1 }
        let start = offset(of: neighbour.place)
        let end = start + neighbour.text.utf8.count
        let lineStart = bytes[..<start].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let indentation = bytes[lineStart..<start]
        let isOnItsOwnLine =
            lineStart > 0
            && indentation.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard isOnItsOwnLine else {
            guard fallback == nil else {
                return bytes[..<start] + Array("\(entry.line), ".utf8) + bytes[start...]
            }
            return bytes[..<end] + Array(", \(entry.line)".utf8) + bytes[end...]
        }
        let newline = bytes[..<lineStart].hasSuffix("\r\n") ? "\r\n" : "\n"
        let margin = String(decoding: indentation, as: UTF8.self)
        let lines = entry.lines(margin, newline: newline)
        guard fallback == nil else {
            return bytes[..<start] + Array("\(lines),\(newline)\(margin)".utf8) + bytes[start...]
        }
        let addition = ",\(newline)\(margin)\(lines)"
        return bytes[..<end] + Array(addition.utf8) + bytes[end...]
    }

    /// Returns the offset of the byte at a place.
    private func offset(of place: TextPlace) -> Int {
        var line = bytes[...]
        for _ in 1..<place.line {
            line = line.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        }
        let before = String(decoding: line, as: UTF8.self).prefix(place.column - 1)
        return line.startIndex + before.utf8.count
    }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}

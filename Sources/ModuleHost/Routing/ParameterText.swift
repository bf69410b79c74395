/// The functions that read values from the text of a parameter.
enum ParameterText {
    /// Returns the name of a type in messages and in the URI document.
    static func expectation(of type: Any.Type) -> String {
        known(type) ?? "JSON of \(type)"
    }

    /// Returns the form of the values of a type, if the type alone decides it.
    static func known(_ type: Any.Type) -> String? {
        switch type {
        case is Bool.Type: "true, false, 1 or 0"
        case is String.Type: "text"
        case is Double.Type, is Float.Type: "a number"
        case is any FixedWidthInteger.Type: "a whole number"
        case is Duration.Type: "a duration such as 2s"
        case is JSONValue.Type: "any JSON"
        case is DateTime.Type: "a time such as 2026-03-01T09:41:00Z"
        case is any (CaseIterable & RawRepresentable).Type:
            "one of " + values(of: type).map { "'\($0)'" }.joined(separator: ", ")
        case let type as any OptionalType.Type: expectation(of: type.wrappedType)
        case let type as any ListType.Type: "values, each \(expectation(of: type.elementType))"
        default: isFoundationDate(type) ? expectation(of: DateTime.self) : nil
        }
    }

    /// Returns the values of an enum, or of a list whose elements are one; empty for any other type.
    static func values(of type: Any.Type) -> [String] {
        func all<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> [String] {
            T.allCases.map { "\($0.rawValue)" }
        }
        switch type {
        case let type as any (CaseIterable & RawRepresentable).Type: return all(type)
        case let type as any ListType.Type: return values(of: type.elementType)
        default: return []
        }
    }

    static func bool(_ text: String) -> Bool? {
        switch text {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Returns a whole number in decimal; the only sign is a minus.
    @inline(__always)
    static func integer<T: FixedWidthInteger>(_ text: String, _ type: T.Type) -> T? {
        text.utf8.first == UInt8(ascii: "+") ? nil : T(text)
    }

    static func isWhole(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        return !digits.isEmpty && digits.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// Returns whether a text is a decimal number, such as `-1.5e3`: no words, no hexadecimal.
    static func isDecimal(_ text: String) -> Bool {
        let isNumber = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        return isNumber && text.utf8.first != UInt8(ascii: "+") && Double(text) != nil
    }
}

/// The wrapped type of an optional.
protocol OptionalType {
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
}

/// The element type of an array or a set.
protocol ListType {
    static var elementType: Any.Type { get }
}

extension Array: ListType {
    static var elementType: Any.Type { Element.self }
}

extension Set: ListType {
    static var elementType: Any.Type { Element.self }
}

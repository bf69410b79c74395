import Glibc

/// The variables with which this process was started and whose values are not UTF-8.
///
/// In ``CurrentProcess/environment()`` the text of such a value has U+FFFD in the place of the other bytes. A
/// slatefile cannot use that text as a value, and child processes receive the original bytes.
package enum NonUTF8Variables {
    /// The bytes of each line `NAME=value`, by the text that stands for them.
    private static let lines: [String: [UInt8]] = {
        var lines: [String: [UInt8]] = [:]
        var entry = environ
        while let line = entry.pointee {
            if String(validatingCString: line) == nil {
                let bytes = UnsafeBufferPointer(start: line, count: strlen(line))
                lines[String(cString: line)] = bytes.map { UInt8(bitPattern: $0) }
            }
            entry += 1
        }
        return lines
    }()

    /// Reads the variables; later changes of the environment have no effect.
    ///
    /// Call it at the start, as ``CurrentProcess/environment()`` does.
    static func read() { _ = lines }

    /// Returns whether a value stands for bytes that are not UTF-8.
    package static func contain(_ name: String, _ value: String) -> Bool {
        !lines.isEmpty && lines["\(name)=\(value)"] != nil
    }

    /// Returns the original bytes of a line `NAME=value`; nil if the text is the original.
    static func bytes(of line: String) -> [UInt8]? { lines.isEmpty ? nil : lines[line] }
}

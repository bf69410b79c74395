import Glibc
import ModuleHostCore

/// The repository that the tests were built from.
package enum Repository {
    /// The path of its folder; `REPOSITORY` names a copy, such as the one in which `scripts/readme` has followed
    /// the README.
    package static let path =
        getenv("REPOSITORY").map { String(cString: $0) }
        ?? "\(#filePath)"
        .split(separator: "/", omittingEmptySubsequences: false)
        // Tests, TestSupport, and this file.
        .dropLast(3).joined(separator: "/")

    /// The text of one of its files.
    ///
    /// - Parameter name: The path of the file from the folder of the repository.
    /// - Returns: The text.
    /// - Throws: `FileReadError` where the file cannot be read.
    package static func text(of name: String) throws -> String {
        String(decoding: try readFile(at: "\(path)/\(name)", limit: 1 << 20), as: UTF8.self)
    }

    /// Returns `slatefile.json` as the repository ships it.
    ///
    /// The README tells its readers to add modules of their own: tests must not depend on these.
    ///
    /// - Throws: `FileReadError` or `JSONError` if the file cannot be read.
    package static func slatefile() throws -> String {
        try shipped(text(of: "slatefile.json"))
    }

    /// Drops the modules that the repository does not ship from a slatefile.
    ///
    /// - Parameter slatefile: The text.
    /// - Returns: The text without them.
    /// - Throws: `JSONError` if the text is not JSON.
    package static func shipped(_ slatefile: String) throws -> String {
        guard let modules = try JSONValue(parsing: slatefile)["modules"] else { return slatefile }
        let shipped = modules.elements.filter { $0["id"]?.string?.hasPrefix("com.mm.") == true }
        let list = shipped.map { "\n    \($0.text)" }.joined(separator: ",")
        return slatefile.replacing(modules.text, with: "[\(list)\n  ]")
    }
}

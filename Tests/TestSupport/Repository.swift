import ModuleHost

/// The repository that the tests were built from.
package enum Repository {
    /// The path of its folder.
    package static let path = "\(#filePath)"
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
}

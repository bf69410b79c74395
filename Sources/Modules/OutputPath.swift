import ModuleHostCore

/// The path of a file that a module writes, from its settings.
struct OutputPath: Decodable, Hashable, Sendable {
    /// The path as it is written.
    let text: String

    /// Creates a path that is known to be valid.
    init(_ text: String) { self.text = text }

    /// Reads a path from settings.
    ///
    /// - Throws: An error where it is not a string, or not valid as the name of a file.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = try value.decode(String.self)
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a file's path cannot be empty or hold a NUL")
        }
    }

    /// Returns the absolute path; a relative one is relative to the state directory.
    func absolute(in stateDirectory: String) -> String {
        text.hasPrefix("/") ? text : "\(stateDirectory)/\(text)"
    }
}

/// The error for a file of the setting `file` that cannot be written.
struct OutputFileError: Error, Hashable, Sendable, CustomStringConvertible {
    let error: FileError

    init(_ error: FileError) { self.error = error }

    /// The error, its reason and the remedy.
    var description: String { "\(error); \(remedy)" }

    private var remedy: String {
        switch error.reason {
        case _ where error.explanation != nil:
            "remove it, or give another 'file' in this module's config"
        case .notFound: "make its folder, or give another 'file' in this module's config"
        case .notDirectory: "a part of the path is not a folder; give another 'file'"
        case .isDirectory: "give a file in that folder as 'file' in this module's config"
        case .accessDenied, .notPermitted:
            "let this user write there, or give another 'file' in this module's config"
        case .noSpace: "make room on that disk"
        default: error.reason.remedy ?? "is 'file' in this module's config what it should be?"
        }
    }
}

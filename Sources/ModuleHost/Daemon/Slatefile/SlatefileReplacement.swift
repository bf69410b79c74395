/// A slatefile whose text is exchanged, with the former one kept beside it, as `<slatefile>.previous`.
struct SlatefileReplacement {
    private let path: String
    private let previousPath: String
    /// The copy of the file that was there before, until the replacement is final; nil if there was none.
    private let olderPath: String?

    /// Writes the new text in place of the file, and keeps the former one beside it; each atomically, and the
    /// text is on the disk when this returns.
    ///
    /// - Parameter slatefile: The file; where it is a symbolic link, its target.
    /// - Throws: ``FileError``; then nothing has changed.
    init(of slatefile: String, by bytes: [UInt8]) throws(FileError) {
        path = try resolvedPath(slatefile)
        previousPath = "\(path).previous"
        let older = "\(previousPath).older"
        do throws(FileError) {
            try linkFile(previousPath, to: older)
            olderPath = older
        } catch {
            guard error.reason == .notFound else { throw error }
            olderPath = nil
        }
        try linkFile(path, to: previousPath)
        do throws(FileError) {
            try writeFile(bytes, to: path, mode: fileMode(path), synchronized: true)
        } catch {
            try? putBackPrevious()
            throw error
        }
    }

    /// Makes the exchange final.
    func keep() { if let olderPath { try? removeFile(olderPath) } }

    /// Restores the former file, as if nothing had been written.
    func putBack() throws(FileError) {
        try renameFile(previousPath, to: path)
        try putBackPrevious()
    }

    private func putBackPrevious() throws(FileError) {
        if let olderPath {
            try renameFile(olderPath, to: previousPath)
        } else {
            try removeFile(previousPath)
        }
    }
}

import AppService

/// The reasons why an app was not composed, each with the remedy.
struct ComposeError: Error, Hashable {
    /// The reasons: one or more lines each, without the end of the last.
    var reasons: [TerminalText]
    let exitCode: ExitCode
    /// The signal that interrupted the work; nil for none.
    var signal: Int32?

    init(_ reason: TerminalText, _ exitCode: ExitCode = .failed) {
        self.reasons = [reason]
        self.exitCode = exitCode
    }

    init(_ reasons: [TerminalText], _ exitCode: ExitCode) {
        self.reasons = reasons
        self.exitCode = exitCode
    }

    static func interrupted(by signal: Int32) -> ComposeError {
        var error = ComposeError(
            "interrupted; the last program stays as it was, and the next compose continues")
        error.signal = signal
        return error
    }

    /// The error of an id that no enabled module has.
    static func unknown(_ id: String, in slatefile: Slatefile, _ path: String) -> ComposeError {
        let ids = slatefile.modules.filter(\.isEnabled).map(\.id.text)
        let nearest = nearestName(to: id, in: ids).map { "; did you mean \(quoted($0))?" }
        return ComposeError(
            "\(path) has no enabled module \(quoted(id))\(nearest ?? "")", .usage)
    }

    static func file(_ error: FileError) -> ComposeError { ComposeError("\(error)", .cannotCreate) }
}

extension ComposeError {
    /// Runs code that works on files, and passes on its error as one of composing.
    static func files<Result: ~Copyable>(
        _ body: () throws(FileError) -> Result
    ) throws(ComposeError) -> Result {
        do throws(FileError) { return try body() } catch { throw .file(error) }
    }
}

extension Slatefile.Module {
    /// Returns the place of the module in the slatefile of a path, as a compiler writes it.
    func place(in path: String) -> String {
        "\(excerpt(path, limit: 1000)):\(place.line):\(place.column)"
    }
}

/// Returns ids or names as words: `'a'`, `'a' and 'b'`, `'a', 'b' and 'c'`.
func enumerated(_ names: [String]) -> String {
    let words = names.map { quoted($0) }
    guard let last = words.last, words.count > 1 else { return words.joined() }
    return words.dropLast().joined(separator: ", ") + " and " + last
}

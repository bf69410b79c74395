/// The reason why there is no valid slatefile.
package enum SlatefileFailure: Error, Hashable, Sendable {
    /// The slatefile cannot be read.
    case unreadable(FileReadError)
    /// The slatefile, or its file of tokens, is invalid.
    case invalid(SlatefileError)
    /// The file of tokens that the slatefile names cannot be read, or others could read or change it; `slatefile` is
    /// the place of its name, `file:line:column`.
    case tokens(FileReadError, slatefile: String)

    /// The path of the file with the problem.
    package var path: String {
        switch self {
        case .unreadable(let error), .tokens(let error, _): error.path
        case .invalid(let error): error.path
        }
    }

    package var exitCode: ExitCode {
        switch self {
        case .tokens(let error, _):
            switch error.reason {
            case .notPrivate, .foreignOwner, .notReadable, .link: .notPermitted
            case .failed: .inputOutput
            case .missing, .isDirectory, .notRegular, .tooLarge: .invalidSlatefile
            }
        // A file that is too large exists, and may be read: it is not a slatefile.
        case .unreadable(let error):
            if case .tooLarge = error.reason { .invalidSlatefile } else { .noInput }
        case .invalid: .invalidSlatefile
        }
    }

    /// The first diagnostic with its place, and the number of others, on one line.
    package var summary: String {
        switch self {
        case .unreadable(let error): return "\(error)"
        case .tokens(let error, let slatefile):
            return "\(error); it is 'security.tokens' of \(slatefile)"
        case .invalid(let error):
            // A misspelt key is the cause of others, such as that the right one is missing.
            let cause = error.diagnostics.first { $0.message.contains(bytesOf: "did you mean") }
            guard let first = cause ?? error.diagnostics.first else { return error.path }
            let text =
                "\(error.path):\(first.place.line):\(first.place.column): \(first.message)"
            let others = error.diagnostics.count - 1
            return others == 0
                ? text : "\(text) (and \(others) more \(others == 1 ? "error" : "errors"))"
        }
    }

    /// Returns all diagnostics with their places as lines for a person, each with its end.
    ///
    /// - Parameters:
    ///   - command: The command that needs the slatefile, as the user wrote it: `hostd check`.
    ///   - colored: Whether to use the colors of a terminal.
    ///   - isReload: Whether a running host reloads it, which cannot use another path.
    /// - Returns: The lines.
    package func text(
        for command: TerminalText, colored: Bool, isReload: Bool = false
    ) -> TerminalText {
        switch self {
        case .unreadable(let error) where error.reason == .missing && isReload:
            "\(command): \(error)\nput the slatefile back that the host was started with\n"
        case .unreadable(let error)
        where error.reason == .missing && error.path == "slatefile.json":
            """
            \(command): \(error)
            '\(command.firstWord) new app NAME' creates an app with one
            see '\(command) --help' for how to name another

            """
        case .unreadable(let error) where error.reason == .missing:
            "\(command): \(error)\nsee '\(command) --help' for how to name another\n"
        case .unreadable(let error): "\(command): \(error)\n"
        case .tokens(let error, let slatefile):
            "\(command): \(error)\nit is 'security.tokens' of \(slatefile)\n"
        case .invalid(let error): error.text(colored: colored)
        }
    }
}

extension Slatefile {
    /// Reads and checks the slatefile of a path, and that its entries are modules of this binary.
    ///
    /// - Parameters:
    ///   - path: The file's path. It must be a regular file of at most 16 MiB.
    ///   - environment: The variables for `${NAME}` in a `config`.
    /// - Returns: The slatefile.
    /// - Throws: ``SlatefileFailure``, with every diagnostic of the file.
    package static func load(
        _ path: String, environment: [String: String]
    ) throws(SlatefileFailure) -> Slatefile {
        try read(text(at: path), from: path, environment)
    }

    /// Returns the fingerprint of the text that a slatefile's file has now; nil where it cannot be read.
    static func fingerprint(at path: String) -> Fingerprint? {
        (try? text(at: path)).map { Fingerprint(of: $0) }
    }

    private static func text(at path: String) throws(SlatefileFailure) -> [UInt8] {
        do throws(FileReadError) {
            return try readFile(at: path, limit: 16 << 20)
        } catch {
            throw .unreadable(error)
        }
    }

    /// Checks the text of a slatefile, and that its entries are modules of this binary.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - path: The path of the file that has it, or is to have it.
    ///   - name: The name of the text in messages; nil for the path.
    ///   - environment: The variables for `${NAME}` in a `config`.
    /// - Returns: The slatefile.
    /// - Throws: ``SlatefileFailure``, with every diagnostic of the text.
    static func read(
        _ bytes: [UInt8], from path: String, named name: String? = nil,
        _ environment: [String: String]
    ) throws(SlatefileFailure) -> Slatefile {
        do throws(SlatefileError) {
            var slatefile = try read(
                bytes, path: name ?? path, environment: { environment[$0] },
                checkEntry: EntryUse.checkAgainstBinary(ofSlatefile: path),
                part: HostComposition.running.withLock { $0.flatMap { SlatefilePart($0.only) } })
            slatefile.fingerprint = Fingerprint(of: bytes)
            return slatefile
        } catch {
            throw .invalid(error)
        }
    }
}

extension Slatefile {
    /// Reads and checks the file of tokens that the slatefile names.
    ///
    /// - Parameter path: The slatefile's own path: a relative path of the tokens is beside it.
    /// - Returns: The tokens; none where the slatefile names no file.
    /// - Throws: ``SlatefileFailure``, with every diagnostic of the file. It must be a regular file of at
    ///   most 1 MiB that belongs to this process's user or to root, with no permission for other users.
    package func loadTokens(beside path: String) throws(SlatefileFailure) -> TokenStore {
        guard let tokens = security.tokens else { return .empty }
        let folder = parentFolder(of: path) ?? "."
        let file =
            tokens.hasPrefix("/") || folder == "."
            ? tokens : folder == "/" ? "/\(tokens)" : "\(folder)/\(tokens)"
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(
                at: file, limit: TokenStore.Limits.bytes, isSecret: true, isTrusted: true)
        } catch {
            let place = security.tokensPlace.map { ":\($0.line):\($0.column)" } ?? ""
            throw .tokens(error, slatefile: path + place)
        }
        do throws(SlatefileError) {
            return try TokenStore.read(bytes, path: file, schemes: schemes)
        } catch {
            throw .invalid(error)
        }
    }
}

extension Slatefile {
    /// Reads and checks the slatefile of a path; entries are not looked up, as in a program that is yet to be built.
    ///
    /// - Parameters:
    ///   - path: The file's path. It must be a regular file of at most 16 MiB.
    ///   - environment: Returns the value of a variable for `${NAME}` in a `config`, nil if it is not set.
    /// - Returns: The slatefile and its text.
    /// - Throws: ``SlatefileFailure``, with every diagnostic of the file.
    package static func readWithoutEntries(
        _ path: String, environment: (_ name: String) -> String?
    ) throws(SlatefileFailure) -> (slatefile: Slatefile, text: [UInt8]) {
        let bytes = try text(at: path)
        do throws(SlatefileError) {
            return (try read(bytes, path: path, environment: environment), bytes)
        } catch {
            throw .invalid(error)
        }
    }
}

/// Why there is no slatefile to work with.
package enum SlatefileFailure: Error, Hashable, Sendable {
    /// It cannot be read.
    case unreadable(FileReadError)
    /// It is invalid.
    case invalid(SlatefileError)

    package var exitCode: ExitCode {
        switch self {
        // What is too large is there, and may be read: it is no slatefile.
        case .unreadable(let error):
            if case .tooLarge = error.reason { .invalidSlatefile } else { .noInput }
        case .invalid: .invalidSlatefile
        }
    }

    /// What is wrong and where, as the lines that a person reads, each with its end.
    ///
    /// - Parameters:
    ///   - command: The command that needs the slatefile, as the user wrote it: `hostd check`.
    ///   - colored: Whether to use the colours of a terminal.
    /// - Returns: The lines.
    package func rendered(for command: String, colored: Bool) -> String {
        switch self {
        case .unreadable(let error) where error.reason == .missing:
            "\(command): \(error)\nsee '\(command) --help' for how to name another\n"
        case .unreadable(let error): "\(command): \(error)\n"
        case .invalid(let error): error.rendered(colored: colored)
        }
    }
}

extension Slatefile {
    /// Reads and checks the slatefile of a path, and that its entries are modules of this binary.
    ///
    /// - Parameters:
    ///   - path: The file's path. It must be a regular file of at most 16 MiB.
    ///   - environment: What `${NAME}` in a `config` stands for.
    /// - Returns: The slatefile.
    /// - Throws: ``SlatefileFailure``, with every fault of the file.
    package static func load(
        _ path: String, environment: [String: String]
    ) throws(SlatefileFailure) -> Slatefile {
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: path, limit: 16 << 20)
        } catch {
            throw .unreadable(error)
        }
        do throws(SlatefileError) {
            return try read(
                bytes, path: path, environment: { environment[$0] },
                checkEntry: EntryUse.checkAgainstBinary())
        } catch {
            throw .invalid(error)
        }
    }
}

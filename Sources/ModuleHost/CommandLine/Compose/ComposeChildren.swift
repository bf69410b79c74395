/// The programs that composing starts, and what is shown of their work.
struct ComposeChildren {
    let environment: [String: String]
    let progress: ComposeProgress

    /// Runs a program to its end.
    ///
    /// - Throws: ``ComposeError`` where it cannot be started, or a signal requests the end of this process.
    func run(
        _ command: [String], _ environment: [String: String],
        _ line: (ChildLines.Stream, ArraySlice<UInt8>) -> Void
    ) throws(ComposeError) -> ChildProcess.Exit {
        defer { progress.clear() }
        let end: ChildLines.End
        do throws(SystemError) {
            end = try ChildLines.run(command, environment: environment, line)
        } catch {
            throw ComposeError("cannot start \(command.first ?? ""): \(error)")
        }
        switch end {
        case .exited(let exit): return exit
        case .interrupted(let signal): throw .interrupted(by: signal)
        }
    }

    /// Returns the path of a program.
    ///
    /// - Throws: ``ComposeError`` where no folder of `PATH` has it.
    func find(_ name: String, _ remedy: TerminalText) throws(ComposeError) -> String {
        if let path = findProgram(name, path: environment["PATH"]) { return path }
        throw ComposeError("there is no '\(name)' in the folders of PATH; \(remedy)", .unavailable)
    }
}

/// The display of the work while an app is composed.
///
/// `note` says what was done, once. `show` is the state of the moment, for terminals alone: it replaces the
/// state before, and ends with `clear`.
struct ComposeProgress {
    let note: (TerminalText) -> Void
    let show: (TerminalText) -> Void
    let clear: () -> Void
}

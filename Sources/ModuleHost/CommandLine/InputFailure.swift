/// The reason why what a command line gives, or names, cannot be read or used.
struct InputFailure: Error {
    let message: TerminalText
    let exitCode: ExitCode

    init(_ message: TerminalText, _ exitCode: ExitCode = .usage) {
        (self.message, self.exitCode) = (message, exitCode)
    }
}

extension RawInput {
    /// Returns the bytes of stdin; nil where there are more than the limit.
    static func standardInputBytes(limit: Int) throws(InputFailure) -> [UInt8]? {
        do throws(SystemError) {
            return try readAll(from: standardInput, limit: limit)
        } catch {
            throw InputFailure("cannot read stdin: \(error)", .inputOutput)
        }
    }
}

/// The description of an error that module code threw.
///
/// The description of an error is module code, too: it is read while the module is current, and not by the
/// host's own code, from which the lane cannot be taken.
@usableFromInline
struct DescribedError: Error, CustomStringConvertible {
    @usableFromInline let description: String
    /// The time after which the module wants its event again; nil for any other error.
    let retry: Duration?

    init(_ error: any Error) {
        description = "\(error)"
        retry = (error as? RetryLater)?.time ?? (error as? DescribedError)?.retry
    }

    /// Returns the error in words; an error of the host itself is returned unchanged.
    @usableFromInline
    static func of(_ error: any Error) -> any Error {
        error is LaneLost ? error : DescribedError(error)
    }
}

/// Runs module code whose errors are needed only in words.
@inlinable @inline(__always)
func describing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        throw DescribedError.of(error)
    }
}

/// An error that a handler threw, as opposed to the host's own errors about a call.
@usableFromInline
struct HandlerError: Error, CustomStringConvertible {
    let error: any Error

    @usableFromInline
    init(error: any Error) { self.error = error }

    @usableFromInline var description: String { "\(error)" }
}

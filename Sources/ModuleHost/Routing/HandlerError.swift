/// What a handler threw, on its way to who tells it from what the host says about the call.
@usableFromInline
struct HandlerError: Error, CustomStringConvertible {
    let error: any Error

    @usableFromInline
    init(error: any Error) { self.error = error }

    @usableFromInline var description: String { "\(error)" }
}

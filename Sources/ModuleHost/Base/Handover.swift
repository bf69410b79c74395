import AppService

/// An object that is given away: the giver keeps no reference to it, so that it need not be `Sendable`.
///
/// ```swift
/// try context.mediator.perform("com.mm.viewer", "show", userInfo: ["image": Handover(image)])
///
/// Route("show") { (module, call) in
///     module.image = (call.userInfo["image"] as? Handover<Image>)?.take()
/// }
/// ```
///
/// - Thread: Any. The compiler checks that the giver does not use the object afterwards.
public final class Handover<Value>: Sendable {
    private let value: Guarded<Value?>

    /// Gives an object away.
    ///
    /// - Parameter value: The object, which the caller does not use any more.
    public init(_ value: sending Value) { self.value = Guarded(value) }

    /// Takes the object.
    ///
    /// - Returns: The object; nil where it was taken before.
    public func take() -> sending Value? {
        value.withLock { value in
            let taken = value.take()
            return taken
        }
    }
}

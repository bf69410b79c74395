import AppService

/// A weak reference that any thread may read and set: for closures that are created before the object they
/// refer to.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private let reference = Guarded(Reference())

    /// The object; nil before it is set, and once it is deallocated.
    var object: Object? { reference.withLock { $0.object } }

    /// Sets the object.
    func set(_ object: Object) { reference.withLock { $0.object = object } }
}

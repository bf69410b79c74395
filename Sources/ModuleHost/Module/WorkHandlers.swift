/// The closures of a module that take the end of its work.
///
/// Belongs to the module, in which it also is released.
final class WorkHandlers {
    private(set) var failed: ((any Error) throws -> Void)?
    private var releaseThen: (() -> Void)?

    init(failed: ((any Error) throws -> Void)?, releaseThen: @escaping () -> Void) {
        self.failed = failed
        self.releaseThen = releaseThen
    }

    func release() {
        failed = nil
        releaseThen?()
        releaseThen = nil
    }
}

/// The closure of a module that takes the result of its work.
///
/// Belongs to the module.
final class WorkResult<Value> {
    private var then: ((Value) throws -> Void)?

    init(_ then: @escaping (Value) throws -> Void) { self.then = then }

    func take(_ value: Value) throws { try then?(value) }

    func release() { then = nil }
}

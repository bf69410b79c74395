/// A value that belongs to the lane, or to one module, on its way through code that must be `Sendable`.
///
/// `@unchecked Sendable`: the value is opened only by the thread that owns the lane, which the lane alone
/// hands out, or by the thread that is in the module to which the value belongs; the ownership word
/// orders the two. `LaneTakeoverTests` under the thread sanitizer would break it.
@usableFromInline
struct LaneConfined<Value>: @unchecked Sendable {
    private let value: Value

    @usableFromInline
    init(_ value: Value) { self.value = value }

    /// Returns the value to a job of the lane.
    ///
    /// - Parameter thread: The calling thread, which owns the lane.
    /// - Returns: The value.
    func open(on thread: LaneThread) -> Value {
        assert(thread.isCurrent, "the lane is another thread's")
        return value
    }

    /// Returns the value to code that runs inside the module to which it belongs: on the lane, or on the
    /// module's own thread while it is overdue.
    @usableFromInline
    func openInModule() -> Value { value }
}

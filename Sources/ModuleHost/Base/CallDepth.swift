@usableFromInline
enum CallDepth {
    /// The largest number of nested entries into modules on one stack: a module that calls another one, which
    /// calls the next.
    @usableFromInline static var maximum: Int { 64 }
}

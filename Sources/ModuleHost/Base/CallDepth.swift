@usableFromInline
enum CallDepth {
    /// How many entries into modules may be on one stack: a module that calls another one, which calls the next.
    @usableFromInline static var maximum: Int { 64 }
}

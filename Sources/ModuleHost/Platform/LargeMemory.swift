import Glibc

/// What becomes of large pieces of memory when they are let go of.
enum LargeMemory {
    /// `M_MMAP_THRESHOLD` of `mallopt(3)`, which Swift does not see.
    private static let threshold: Int32 = -3
    /// Glibc's own value at the start.
    private static let bytes: Int32 = 128 << 10

    /// Has large pieces go back to the system at once, for as long as the process lives.
    ///
    /// Glibc would take the first large piece that is freed as a sign that there will be more, and from then on
    /// keep all up to that size, of each thread that ever had one: a host that has read lines of a MiB from 20 modules
    /// would never be small again.
    ///
    /// - Returns: False where the C library has no such setting, as in a static executable.
    @discardableResult
    static func returnAtOnce() -> Bool {
        guard let symbol = dlsym(nil, "mallopt") else { return false }
        typealias Setting = @convention(c) (Int32, Int32) -> Int32
        return unsafeBitCast(symbol, to: Setting.self)(threshold, bytes) == 1
    }
}

import Glibc

/// The C library's treatment of free memory.
///
/// Its settings are declared in a header that Swift does not see, and a static executable has no symbols to
/// look up.
enum LargeMemory {
    /// `M_MMAP_THRESHOLD` of `mallopt(3)`.
    private static let threshold: Int32 = -3
    /// Glibc's own initial value.
    private static let bytes: Int32 = 128 << 10
    /// `M_ARENA_MAX` of `mallopt(3)`.
    private static let heaps: Int32 = -8
    /// The address space below which threads share one heap: eight threads reserve half of this.
    private static let ampleSpace: UInt = 1 << 30

    /// Makes large blocks return to the system at once, as long as the process lives.
    ///
    /// Glibc would take the first large block that is freed as a sign of more to come, and from then on keep
    /// all blocks up to that size, of each thread that ever had one: a host that has read lines of a MiB from
    /// 20 modules would never be small again.
    ///
    /// - Returns: False where the C library refuses.
    @discardableResult
    static func returnAtOnce() -> Bool { setOption(threshold, bytes) == 1 }

    /// Makes all threads share one heap if the limit of the process's address space is low (`ulimit -v`).
    ///
    /// Otherwise each thread reserves 64 MiB for a heap of its own, which may take up the whole limit. An allocation
    /// that fails then ends the process, while a thread that cannot be started is an error with a remedy.
    static func shareHeapIfLimited() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur < ampleSpace
        else { return }
        _ = setOption(heaps, 1)
    }

    /// Returns free memory of all threads to the system, after a high load.
    ///
    /// Takes some milliseconds for each 10 MiB, in which threads that allocate may wait.
    ///
    /// - Returns: Whether any memory was returned.
    @discardableResult
    static func returnAll() -> Bool { trim(0) == 1 }
}

@_silgen_name("mallopt") private func setOption(_ parameter: Int32, _ value: Int32) -> Int32
@_silgen_name("malloc_trim") private func trim(_ kept: Int) -> Int32

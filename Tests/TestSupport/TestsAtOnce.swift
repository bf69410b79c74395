import Glibc

/// Limits how many tests of a run have begun and are not over, before the runner reads the variable.
///
/// Without a limit the runner begins all tests at once. The pool of Swift has a thread for each core, and its
/// tasks take turns in order: the second turn of a test would come after the first turns of all others. On a slow
/// machine that takes longer than any test waits. Twice as many as there are cores keep all cores busy.
@section(".init_array") @used
private let limitTestsAtOnce: @convention(c) () -> Void = {
    setenv(
        "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH",
        "\(2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))",
        0)
}

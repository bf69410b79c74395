// Nothing in the standard library or in Dispatch says how many cores there are.
internal import Glibc

/// Returns the number of cores that are online, at least one.
func onlineCores() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

// Nothing in the standard library or in Dispatch says how many cores there are.
internal import Glibc

/// How many cores are at work in this machine, at least one.
func onlineCores() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

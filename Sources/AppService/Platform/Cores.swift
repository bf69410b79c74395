// Neither the standard library nor Dispatch reports the number of cores.
internal import Glibc

/// Returns the number of cores that are online, at least one.
package func onlineCores() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

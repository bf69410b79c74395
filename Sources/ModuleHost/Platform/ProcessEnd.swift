import Glibc

/// Opens a descriptor of a process that can be waited for together with others: readable when the process has
/// ended.
///
/// - Parameter processID: A child that has not been reaped: otherwise the number may be another's.
/// - Returns: The descriptor, which is closed on `exec`.
/// - Throws: ``SystemError``: where there is no room for a descriptor, or in a kernel before Linux 5.3.
func openProcessEnd(of processID: Int32) throws(SystemError) -> Descriptor {
    // `pidfd_open` is in no C library before glibc 2.36; the number is the same on all machines.
    let number = systemCall(434, Int(processID), 0)
    guard number >= 0 else { throw .last }
    return Descriptor(owning: Int32(number))
}

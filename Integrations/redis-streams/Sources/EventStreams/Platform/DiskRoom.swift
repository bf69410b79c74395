import Glibc

/// The room on a disk.
package enum DiskRoom {
    /// Returns the bytes that a program without privileges can still write to the disk of a folder; nil if the system does not say it.
    package static func bytes(at folder: String) -> UInt64? {
        var values = statvfs()
        guard statvfs(folder, &values) == 0 else { return nil }
        return UInt64(values.f_bavail) * UInt64(values.f_frsize)
    }
}

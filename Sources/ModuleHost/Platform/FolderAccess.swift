import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The permissions to change the contents of a folder.
package struct FolderAccess: Hashable, Sendable {
    package let owner: UInt32
    package let mode: UInt32

    /// - Returns: Nil where the folder cannot be examined.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        owner = status.st_uid
        mode = status.st_mode & 0o7777
    }

    /// Whether it belongs to another user than this one and root.
    package var isForeign: Bool { owner != 0 && owner != CurrentProcess.userID }

    /// Whether a user other than this one and root may add or remove names.
    package var isOpenToOthers: Bool { isForeign || mode & 0o022 != 0 }
}

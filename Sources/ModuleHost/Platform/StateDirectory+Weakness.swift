extension StateDirectory {
    /// The permissions of users other than this one and root to change the contents of the folder.
    package struct Weakness: Hashable, Sendable {
        package let path: String
        package let access: FolderAccess
    }

    /// The permissions that make the folder unsafe; nil if only its user and root can write to it.
    package var weakness: Weakness? {
        guard let access = FolderAccess(of: path), access.isOpenToOthers else { return nil }
        return Weakness(path: path, access: access)
    }
}

extension StateDirectory.Weakness: CustomStringConvertible {
    package var description: String {
        let who =
            access.isForeign
            ? "belongs to user \(access.owner)" : "may be changed by other users"
        let remedy = access.isForeign ? "chown \(CurrentProcess.userID)" : "chmod 700"
        return
            "the state directory '\(path)' \(who): other users can send events to the host and replace its "
            + "socket; '\(remedy) \(shellQuoted(path))'"
    }
}

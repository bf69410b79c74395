/// The folder in which a host keeps what outlives it.
///
/// Hosts and the commands that look for them find it by the same rule.
package struct StateDirectory: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Finds the folder: the one asked for, else systemd's, else `.hostd` beside the slatefile.
    ///
    /// - Parameters:
    ///   - option: The value of `--state-dir`.
    ///   - environment: Where `STATE_DIRECTORY` is looked up; of several folders, parted by colons,
    ///     the first counts.
    ///   - slatefile: The path of the slatefile.
    package init(option: String?, environment: [String: String], slatefile: String) {
        let fromSystemd = environment["STATE_DIRECTORY"]?.split(separator: ":").first
        if let option {
            path = option
        } else if let fromSystemd {
            path = String(fromSystemd)
        } else {
            let folder = parentFolder(of: slatefile) ?? "."
            path = folder == "." ? ".hostd" : folder == "/" ? "/.hostd" : "\(folder)/.hostd"
        }
    }

    /// The name of the control socket in the folder.
    package static let socketName = "control.sock"

    /// The path of something in the folder.
    package func path(of name: String) -> String {
        path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }
}

/// The reason why a host cannot have a state directory to itself.
package enum StateDirectoryError: Error, Hashable, Sendable {
    /// It cannot be made, or not be written to.
    case unusable(path: String, FileError)
    /// Another host runs on it; its process where that is known.
    case busy(path: String, processID: Int32?)

    package var exitCode: ExitCode {
        switch self {
        case .unusable: .cannotCreate
        case .busy: .busy
        }
    }
}

extension StateDirectoryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unusable(let path, let error):
            "the state directory '\(path)' cannot be used: \(error); "
                + "choose another with --state-dir"
        case .busy(let path, let processID):
            "another host\(processID.map { " (process \($0))" } ?? "") runs on the state directory "
                + "'\(path)'; stop it, or choose another with --state-dir"
        }
    }
}

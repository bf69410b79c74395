/// The folder of the files of a host that outlive it.
///
/// Hosts and the commands that look for them find it by the same rule.
public struct StateDirectory: Hashable, Sendable {
    /// The path of the folder, as it was given.
    public let path: String

    package init(path: String) { self.path = path }

    /// Finds the folder: the requested one, else systemd's, else `.hostd` beside the slatefile.
    ///
    /// - Parameters:
    ///   - option: The value of `--state-dir`.
    ///   - environment: The variables, of which `STATE_DIRECTORY` is read; of several folders, separated by
    ///     colons, the first counts.
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

    /// The folder for compiled modules of Python.
    package static let pythonCacheName = "pycache"

    /// Returns the path of a file in the folder.
    package func path(of name: String) -> String {
        path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }
}

/// The reason why a host cannot claim a state directory.
package enum StateDirectoryError: Error, Hashable, Sendable {
    /// The directory cannot be created, or not be written to.
    case unusable(path: String, FileError)
    /// Another host runs on the directory; its process where that is known.
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
            // On a full disk, another directory would leave the events in the inbox of this one behind.
            "the state directory '\(path)' cannot be used: \(error); "
                + (error.reason.remedyForSpace ?? error.reason.remedy
                    ?? "choose another with --state-dir")
        case .busy(let path, let processID):
            "another host\(processID.map { " (process \($0))" } ?? "") runs on the state directory "
                + "'\(path)'; stop it, or choose another with --state-dir"
        }
    }
}

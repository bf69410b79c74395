/// A value that is kept as JSON in a small file of the state directory, which is replaced as a whole.
package protocol StateFile: Hashable, Sendable {
    /// The members of the file's object.
    associatedtype Stored: Decodable

    static var fileName: String { get }
    /// The name of the lock file, which a process locks before it changes the value. It is another file, because the
    /// value's file is replaced, and a running host locks the state directory.
    static var lockName: String { get }
    /// The purpose of the file in words: `lists the disabled modules`.
    static var purpose: String { get }
    /// The advice for a file that is broken, behind "remove it, and".
    static var remedy: String { get }
    /// The consequence of a file that cannot be written, in words.
    static var loss: String { get }

    /// Creates the value of a file that does not exist.
    init()

    /// Creates the value from the members of a file.
    ///
    /// - Throws: Where they are not valid.
    init(_ stored: Stored) throws

    /// Writes the members of the file's object.
    func writeMembers(to json: inout JSONWriter)
}

/// The reason why a file of the state directory cannot be used.
package enum StateFileError<Value: StateFile>: Error, Hashable, Sendable {
    /// The file cannot be read, or does not have the form that the host writes.
    case broken(path: String, String)
    /// This user may not read the file.
    case notReadable(path: String)
    case unwritable(FileError)
}

extension StateFileError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .broken(let path, let reason):
            "'\(path)', which \(Value.purpose), is broken (\(reason)): remove it, and \(Value.remedy)"
        case .notReadable(let path):
            "'\(path)', which \(Value.purpose), may not be read by this user; only the user of the host "
                + "and root may"
        case .unwritable(let error): "\(Value.loss): \(error)"
        }
    }

    package var exitCode: ExitCode {
        if case .notReadable = self { .notPermitted } else { .inputOutput }
    }
}

extension StateFile {
    /// Reads the file of a state directory.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: ``StateFileError``; not for a missing file.
    package init(in directory: StateDirectory) throws(StateFileError<Self>) {
        let path = directory.path(of: Self.fileName)
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: path, limit: 16 << 20, links: .refused)
        } catch {
            switch error.reason {
            case .missing:
                self.init()
                return
            case .notReadable: throw .notReadable(path: path)
            default: throw .broken(path: path, error.reason.description)
            }
        }
        do {
            try self.init(JSONValue(parsing: bytes).decode(Stored.self))
        } catch {
            throw .broken(path: path, "\(error)")
        }
    }

    /// Replaces the file of a state directory; it is on the disk when this returns.
    ///
    /// - Throws: ``StateFileError/unwritable(_:)``.
    package func write(to directory: StateDirectory) throws(StateFileError<Self>) {
        var json = JSONWriter()
        json.object { writeMembers(to: &$0) }
        json.newline()
        do throws(FileError) {
            let path = directory.path(of: Self.fileName)
            try writeFile(json.bytes, to: path, mode: 0o600, synchronized: true)
            try synchronizeFolder(directory.path)
        } catch {
            throw .unwritable(error)
        }
    }

    /// Waits until no other process changes the value, and keeps others from that until the lock is released.
    ///
    /// - Throws: ``StateFileError/unwritable(_:)``.
    package static func lock(
        _ directory: StateDirectory
    ) throws(StateFileError<Self>) -> Descriptor {
        do throws(FileError) {
            return try .locking(directory.path(of: lockName))
        } catch {
            throw .unwritable(error)
        }
    }
}

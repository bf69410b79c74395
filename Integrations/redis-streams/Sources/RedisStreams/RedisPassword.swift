public import EventStreams

/// The password of a Redis server.
///
/// No description of it shows a part of it.
public struct RedisPassword: Sendable {
    let bytes: [UInt8]

    /// Creates a password of the settings, where a variable of the environment stands for it.
    ///
    /// - Throws: ``StreamError/invalid(_:)`` if it is empty.
    public init(_ text: String) throws(StreamError) {
        try self.init(bytes: Array(text.utf8), of: "'password'")
    }

    /// Reads a password from a file; a newline at its end is not a part of it.
    ///
    /// - Throws: ``StreamError/invalid(_:)`` if the file cannot be read, or is empty.
    public init(file path: String) throws(StreamError) {
        var bytes: [UInt8]?
        do throws(DurableFileError) {
            bytes = try DurableFile.read(path, limit: 4096)
        } catch {
            throw .invalid("'passwordFile': \(error)")
        }
        guard var bytes else { throw .invalid("'passwordFile': there is no file \(quoted(path))") }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        try self.init(bytes: bytes, of: "the file of 'passwordFile'")
    }

    private init(bytes: [UInt8], of place: String) throws(StreamError) {
        guard !bytes.isEmpty else { throw .invalid("\(place) is empty: it must have a password") }
        self.bytes = bytes
    }

    /// Checks that the password is not sent through a network where it can be read.
    ///
    /// - Throws: ``StreamError/invalid(_:)``.
    public static func check(
        isUsed: Bool, at address: RedisAddress, isInsecureAllowed: Bool
    ) throws(StreamError) {
        guard isUsed, !address.isLocal, !isInsecureAllowed else { return }
        throw .invalid(
            "a password would be sent unencrypted to \(address): use a tunnel and the URL of its end on this "
                + "machine (README.md, TLS), or set \"insecure\": true if the network is trusted")
    }
}

extension RedisPassword: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the same text.
    public var description: String { "(hidden)" }
    /// Always the same text.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

import EventStreams

/// The keys of an operator, in files.
enum KeyCommands {
    static let keygenHelp = """
        usage: slate-fetch keygen FILE

        Creates a pair of Ed25519 keys. FILE has the private key, for its owner alone:
        keep it off the hosts. FILE.pub has the public key, for 'keys' of each host.
        No file is overwritten.

          $ slate-fetch keygen shop.key
          ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
        """

    static func keygen(_ words: [String]) throws -> String {
        let path = try CommandArguments(words, options: [], others: 1).others[0]
        let key = PrivateKey()
        for file in [path, path + ".pub"] where Terminal.permissions(of: file) != nil {
            throw CommandError(
                .cannotCreate, "'\(file)' exists: no key is overwritten. Choose another name")
        }
        do throws(DurableFileError) {
            // The public key first: if the other cannot be written, no private key is left over.
            try DurableFile.create(
                path + ".pub", with: Array("\(key.publicKey)\n".utf8), mode: 0o644)
            try DurableFile.create(path, with: Array("\(key.secretText)\n".utf8))
        } catch {
            throw CommandError(.cannotCreate, "\(error). Choose another place")
        }
        return "\(key.publicKey)"
    }

    /// Reads a private key, which must be its owner's alone.
    static func privateKey(_ path: String) throws(CommandError) -> PrivateKey {
        let text = try text(of: path, limit: 4096)
        guard let key = PrivateKey(text) else {
            throw CommandError(
                .invalid,
                PublicKey(text) == nil
                    ? "'\(path)' has no private key: create one with 'slate-fetch keygen'"
                    : "'\(path)' has a public key: to sign, give the file without .pub")
        }
        if let permissions = Terminal.permissions(of: path), permissions & 0o077 != 0 {
            throw CommandError(
                .invalid,
                "others may use '\(path)', whose permissions are 0\(String(permissions, radix: 8)): type 'chmod 600', and make a new key if others were there"
            )
        }
        return key
    }

    /// Reads a public key: its text, or a file with it.
    static func publicKey(_ word: String) throws(CommandError) -> PublicKey {
        if let key = PublicKey(word) { return key }
        guard let key = PublicKey(try text(of: word, limit: 4096)) else {
            throw CommandError(
                .invalid,
                "'\(word)' has no public key: give one, or a .pub file of 'slate-fetch keygen'")
        }
        return key
    }

    /// The text of a file, without the newline at its end.
    static func text(of path: String, limit: Int, isLine: Bool = true) throws(CommandError)
        -> String
    {
        let contents: [UInt8]?
        do throws(DurableFileError) {
            contents = try DurableFile.read(path, limit: limit)
        } catch {
            throw CommandError(.noInput, error.description)
        }
        guard var bytes = contents else {
            throw CommandError(.noInput, "there is no file '\(path)'")
        }
        if isLine, bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.invalid, "'\(path)' is not text in UTF-8")
        }
        return text
    }
}

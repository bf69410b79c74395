extension InboxFolder {
    /// The path of the file with the id of the host.
    var hostIDPath: String { "\(path)/host-id" }

    /// Returns the id of the host whose inbox this is, which is made at the first call: 16 hexadecimal digits.
    ///
    /// It stands beside the segments, because positions are unique only together with it: a folder that is recreated begins
    /// with positions that were used before, and has another id.
    ///
    /// - Throws: ``InboxError`` where it cannot be read, or not be stored. It is on the disk when this returns.
    func hostID() throws(InboxError) -> String {
        if let known = try storedHostID() { return known }
        return try InboxLock(self).hold(.exclusive) { () throws(InboxError) in
            // Another process may have made it meanwhile.
            if let known = try storedHostID() { return known }
            let id = UInt64.random(in: .min ... .max).hexadecimal
            do throws(FileError) {
                try writeFile(
                    Array((id + "\n").utf8), to: hostIDPath, mode: 0o600, synchronized: true)
                try synchronizeFolder(path)
            } catch {
                throw .unusable(error)
            }
            return id
        }
    }

    /// Returns the id in the file; nil where there is none, or something else.
    private func storedHostID() throws(InboxError) -> String? {
        try requirePlace()
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: hostIDPath, limit: 64, links: .refused)
        } catch {
            guard error.reason == .missing else { throw .unreadable(error) }
            return nil
        }
        let id = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        return isHostID(id) ? String(decoding: id, as: UTF8.self) : nil
    }
}

/// Returns whether bytes are the id of a host: 16 hexadecimal digits in small letters.
func isHostID(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count == 16 && bytes.allSatisfy(\.isHexadecimalDigit)
}

import Glibc

/// Something to write to.
struct Descriptor {
    static let output = Descriptor(number: 1)
    static let error = Descriptor(number: 2)

    let number: Int32

    private init(number: Int32) { self.number = number }

    /// Opens a file, or ends the process.
    init(appendingTo path: String) {
        number = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        if number < 0 {
            perror("MisbehavingModule: \(path)")
            exit(74)
        }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all of it, however long that takes; ends the process where it cannot.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { exit(74) }
        }
    }
}

/// Reads standard input by lines.
struct Input {
    private var bytes: [UInt8] = []
    /// Where no newline was found so far.
    private var searched = 0

    /// Waits for the next line.
    ///
    /// - Parameter flood: What is written over and over while there is nothing to read.
    /// - Returns: The line without its newline; nil at the end.
    mutating func nextLine(meanwhile flood: (to: Descriptor, text: String)?) -> ArraySlice<UInt8>? {
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(bytes[..<end])
                bytes.removeSubrange(...end)
                searched = 0
                return line[...]
            }
            searched = bytes.count
            if let flood {
                var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                while poll(&entry, 1, 0) == 0 { flood.to.write(flood.text) }
            }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(0, &chunk, chunk.count)
            if count > 0 {
                bytes += chunk[..<count]
            } else if count == 0 || errno != EINTR {
                return nil
            }
        }
    }
}

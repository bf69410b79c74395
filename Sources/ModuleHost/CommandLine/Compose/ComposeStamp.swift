/// A record of all that a program was made of: as long as it stays the same, there is nothing to compose.
struct ComposeStamp {
    /// The files of all packages that are looked at; with more, an app is composed each time.
    private static let files = 400_000

    private var fingerprint = Fingerprint()
    private var isComplete = true

    /// - Parameters:
    ///   - texts: What decides, beside files: the slatefile, the options.
    ///   - files: Files whose times decide: the compiler, the program.
    ///   - packages: The folders of packages.
    ///   - except: A folder that does not count, even in that of a package: the one of the app.
    init(texts: [[UInt8]], files: [String], packages: [String], except: String) {
        for text in texts { fingerprint.add(text) }
        for file in files { fingerprint.add(file: file) }
        var room = Self.files
        for package in packages {
            fingerprint.add(package)
            // Written by each commit and each checkout, whether files change or not.
            for file in ["HEAD", "logs/HEAD"] { fingerprint.add(file: "\(package)/.git/\(file)") }
            isComplete = fingerprint.add(below: package, except: except, room: &room) && isComplete
        }
    }

    /// Returns the record with one more text.
    func adding(_ text: [UInt8]) -> ComposeStamp {
        var stamp = self
        stamp.fingerprint.add(text)
        return stamp
    }

    /// Returns whether a file has the same record, and the program is the one that it was kept for.
    func isKept(in path: String, of program: String) -> Bool {
        guard isComplete, let bytes = try? readFile(at: path, limit: 1000, links: .refused) else {
            return false
        }
        return bytes == text(of: program) && fileExists(program)
    }

    /// Writes the record.
    func keep(in path: String, of program: String) throws(ComposeError) {
        try ComposeError.files { () throws(FileError) in
            try writeFile(text(of: program), to: path)
        }
    }

    private func text(of program: String) -> [UInt8] {
        var own = Fingerprint()
        own.add(file: program)
        return Array("\(fingerprint) \(own)\n".utf8)
    }
}

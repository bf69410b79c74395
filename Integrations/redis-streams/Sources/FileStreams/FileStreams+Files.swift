import EventStreams

extension FileStreams {
    func path(_ name: StreamName, _ kind: String) -> String { "\(folder)/\(name).\(kind)" }

    func makeFolder() throws(DurableFileError) { try DurableFile.makeFolder(folder) }

    /// The file of a stream, empty if there is none.
    func file(_ name: StreamName) throws(StreamError) -> EntryFile {
        try streamError { () throws(DurableFileError) in
            EntryFile(try DurableFile.read(path(name, "stream"), limit: .max) ?? [])
        }
    }

    /// The streams that have a file of this kind.
    func names(_ kind: String) throws(StreamError) -> [StreamName] {
        try streamError { () throws(DurableFileError) in
            try makeFolder()
            return try DurableFile.names(in: folder).compactMap {
                $0.hasSuffix("." + kind) ? StreamName(String($0.dropLast(kind.count + 1))) : nil
            }
        }
    }

    /// Calls code while this host is the owner of its stream, and no other process changes the folder.
    func owned<Result>(_ body: () throws(StreamError) -> Result) throws(StreamError) -> Result {
        try streamError { () throws(DurableFileError) in try makeFolder() }
        return try DurableFile.withLock(folder + "/lock") { () throws(StreamError) in
            let mark = try streamError { () throws(DurableFileError) in
                try DurableFile.read(path(owner.name, "owner"), limit: 100)
            }.map { String(decoding: $0, as: UTF8.self) }
            if let mark, !owner.isMine(mark) { throw owner.ownedElsewhere(at: quoted(folder)) }
            if mark != owner.mark {
                try streamError { () throws(DurableFileError) in
                    try DurableFile.replace(path(owner.name, "owner"), with: Array(owner.mark.utf8))
                }
            }
            return try body()
        }
    }

    /// Removes the entries that every living host has.
    func trim(at now: UInt64) throws(StreamError) {
        var records: [StreamName: SeenRecord] = [:]
        for name in try names("seen") {
            records[name] = try streamError { () throws(DurableFileError) in
                try DurableFile.read(path(name, "seen"), limit: 1 << 20)
            }.map {
                // A host whose note cannot be read may have seen nothing.
                SeenRecord(String(decoding: $0, as: UTF8.self))
                    ?? SeenRecord(time: now, cursors: [:])
            }
        }
        for name in try names("stream") {
            let seen = removal.position(
                SeenRecord.removable(from: name, in: records, now: now, patience: patience),
                of: name, now: now)
            let file = try file(name)
            let removed = file.entries.filter { $0.position <= seen }
            guard let last = removed.last else { continue }
            let kept = file.entries.dropFirst(removed.count)
            let bytes = kept.reduce(into: EntryFile.bytes(last.position, [])) {
                $0 += EntryFile.bytes($1.position, $1.fields)
            }
            try streamError { () throws(DurableFileError) in
                try DurableFile.replace(path(name, "stream"), with: bytes)
            }
        }
    }
}

/// Calls code that uses files, and throws its errors as those of an engine.
func streamError<Result>(
    _ body: () throws(DurableFileError) -> Result
) throws(StreamError) -> Result {
    do throws(DurableFileError) {
        return try body()
    } catch {
        throw error.isFull ? .full(error.description) : .away(error.description)
    }
}

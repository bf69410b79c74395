import Dispatch
public import EventStreams

/// An engine in the files of a folder, for the hosts of one machine, and for tests.
///
/// A stream is the file `HOSTID.stream`, its owner's mark `HOSTID.owner`, and what its host has seen `HOSTID.seen`; dead letters are
/// in `dead.stream`. Each change is on the disk when a call returns. Readers look for new entries ten times a second.
public actor FileStreams: StreamEngine {
    let folder: String
    let owner: StreamOwner
    let patience: UInt64
    let wait: Duration
    let clock: @Sendable () -> UInt64
    var removal: RemovalDelay
    private let executor: BlockingExecutor

    /// The executor of this engine, whose thread waits for the disk.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Creates an engine; it does nothing before the first call.
    ///
    /// - Parameters:
    ///   - folder: The folder of an app, which all of its hosts have in common. It is created if its parent exists.
    ///   - owner: The stream of this host.
    ///   - trim: The time for which an absent host is waited for.
    ///   - wait: The time for which `read` waits for entries.
    public init(
        folder: String, owner: StreamOwner, trim: Duration = .seconds(7 * 86400),
        wait: Duration = .seconds(2)
    ) {
        self.init(
            folder: folder, owner: owner, trim: trim, wait: wait, removalDelay: .seconds(180))
    }

    package init(
        folder: String, owner: StreamOwner, trim: Duration, wait: Duration, removalDelay: Duration,
        clock: @escaping @Sendable () -> UInt64 = DurableFile.clock
    ) {
        self.folder = folder
        self.owner = owner
        patience = UInt64(max(trim.components.seconds, 0)) * 1000
        self.wait = wait
        self.clock = clock
        removal = RemovalDelay(UInt64(max(removalDelay.components.seconds, 0)) * 1000)
        executor = BlockingExecutor("FileStreams")
    }

    /// Publishes events: all of them, or none.
    public func publish(_ window: [StreamEvent]) async throws(StreamError) -> StreamPosition {
        try StreamLimits.check(window)
        return try owned { () throws(StreamError) in
            let path = path(owner.name, "stream")
            let file = try file(owner.name)
            for event in window where event.position <= file.last {
                try owner.compare(
                    event, with: file.entries.first { $0.position == event.position }?.fields)
            }
            let added = window.filter { $0.position > file.last }
            if !added.isEmpty {
                try streamError { () throws(DurableFileError) in
                    if let bytes = try DurableFile.read(path, limit: .max),
                        bytes.count > file.length
                    {
                        try DurableFile.truncate(path, to: file.length)
                    }
                    try DurableFile.append(
                        added.flatMap { EntryFile.bytes($0.position, $0.fields) }, to: path)
                }
            }
            return window.last?.position ?? file.last
        }
    }

    /// Returns the entries behind the cursors.
    public func read(
        after cursors: [StreamName: StreamPosition], limit: Int
    ) async throws(StreamError) -> [StreamEntry] {
        var left = wait
        while true {
            var found: [StreamEntry] = []
            for (source, position) in cursors.sorted(by: { $0.key < $1.key }) {
                found += try file(source).entries.lazy.filter { $0.position > position }
                    .prefix(limit)
                    .map { StreamEntry(source: source, position: $0.position, fields: $0.fields) }
            }
            guard found.isEmpty, left > .zero else { return found }
            // A thread of its own waits here; no other one does its work.
            _ = DispatchSemaphore(value: 0).wait(timeout: DispatchTime.now() + .milliseconds(100))
            left -= .milliseconds(100)
        }
    }

    /// Notes what this host has taken over, and trims.
    public func seen(_ cursors: [StreamName: StreamPosition]) async throws(StreamError) {
        try owned { () throws(StreamError) in
            let record = SeenRecord(time: clock(), cursors: cursors)
            try streamError { () throws(DurableFileError) in
                try DurableFile.replace(
                    path(owner.name, "seen"), with: Array(record.description.utf8))
            }
            try trim(at: record.time)
        }
    }

    /// Returns the streams of all hosts.
    public func hosts() async throws(StreamError) -> [StreamName: StreamPosition] {
        var hosts: [StreamName: StreamPosition] = [:]
        for name in try names("owner") { hosts[name] = try file(name).last }
        return hosts
    }

    /// Keeps an entry that no host can take over.
    public func dead(_ entry: StreamEntry, reason: String) async throws(StreamError) {
        let heading = [
            "source", entry.source.text, "reason", String(reason.prefix(StreamLimits.reason)),
        ]
        let bytes = EntryFile.bytes(
            entry.position, heading.map { Array($0.utf8) } + entry.fields)
        try streamError { () throws(DurableFileError) in
            try makeFolder()
            try DurableFile.append(bytes, to: folder + "/dead.stream")
        }
    }
}

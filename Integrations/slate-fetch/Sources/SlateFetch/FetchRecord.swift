import EventStreams
import ModuleHostCore

/// The newest version that this host has verified, and what became of it: what makes old ones old.
struct FetchRecord: Hashable, Sendable, Decodable {
    enum Outcome: String, Decodable {
        /// It was verified, and not applied yet.
        case seen
        /// It was handed to the host, which has not answered.
        case trying
        case kept
        case rolledBack = "rolled-back"
        /// Processes have ended without an answer, and the host may have kept it, or taken it back.
        case unknown
    }

    /// The next thing to do with an envelope.
    enum Step: Hashable {
        case apply
        case nothing(Report)
    }

    /// The processes that may have tried one version, and ended without an answer.
    static let unansweredLimit = 2

    private(set) var version = 0
    /// The digest of its slatefile.
    private(set) var slatefile = ""
    private(set) var outcome = Outcome.seen
    /// The number of processes that have ended while the host tried it.
    private(set) var unanswered = 0
    /// The reason of the rollback.
    private(set) var reason: String?

    /// Notes that a process begins: if the last one was trying a version, it got no answer.
    ///
    /// The host has died or was stopped, the version has replaced this program, or taking the version back has.
    mutating func start() {
        guard outcome == .trying else { return }
        unanswered += 1
        if unanswered >= Self.unansweredLimit { outcome = .unknown }
    }

    /// Decides about an envelope whose signature is right.
    ///
    /// - Throws: ``Report`` for a version that must not be taken.
    mutating func next(_ envelope: Envelope, hostID: String) throws(Report) -> Step {
        let published = envelope.version
        guard published >= version else {
            throw Report(
                .refused,
                "version \(published) is older than \(version), which this host has seen: refused. If it is wanted again, sign it as version \(version + 1)"
            )
        }
        if published > version {
            self = FetchRecord()
            (version, slatefile) = (published, envelope.digest)
        }
        guard envelope.digest == slatefile else {
            throw Report(
                .refused,
                "version \(published) has another slatefile than when this host saw it first: refused. Sign each slatefile with a version of its own, \(published + 1) or higher"
            )
        }
        switch outcome {
        case .kept:
            return .nothing(Report(.progress, "version \(version) is in effect"))
        case .rolledBack:
            return .nothing(Self.rolledBack(version, reason ?? "the reason is not known"))
        case .unknown:
            return .nothing(
                Report(
                    .refused,
                    "version \(version) is not tried again here, and its outcome is not known: 'hostd status' says what is in effect. The host, or slate-fetch, has ended twice while it was on probation. Publish a slatefile as version \(version + 1)"
                ))
        case .seen, .trying:
            let place = envelope.place(of: hostID)
            if place < envelope.stage { return .apply }
            return .nothing(
                Report(
                    .progress,
                    "version \(version) is at stage \(envelope.stage), and this host takes it from stage \(place + 1) on"
                ))
        }
    }

    /// Notes that the host is asked to apply the version.
    mutating func apply() { outcome = .trying }

    mutating func keep() { (outcome, unanswered) = (.kept, 0) }

    mutating func rollBack(_ reason: String) {
        (outcome, self.reason) = (.rolledBack, excerpt(reason, limit: Report.limit))
    }

    static func rolledBack(_ version: Int, _ reason: String) -> Report {
        Report(
            .refused,
            "version \(version) was rolled back, and is not tried again here: \(reason). Publish a mended slatefile as version \(version + 1)"
        )
    }
}

extension FetchRecord {
    /// The largest file that is read.
    private static let limit = 1 << 20

    /// Reads the file of a host; a host that has none has seen no version.
    ///
    /// - Throws: ``Report``: a host that does not know what it has seen takes nothing.
    init(from path: String) throws(Report) {
        let bytes: [UInt8]?
        do throws(DurableFileError) {
            bytes = try DurableFile.read(path, limit: Self.limit)
        } catch {
            throw Report(
                .refused,
                "\(error). No slatefile is applied until the versions that were seen are known")
        }
        guard let bytes else {
            self.init()
            return
        }
        let read: Result<FetchRecord, JSONError> = Result { () throws(JSONError) in
            try JSONValue(parsing: bytes).decode(FetchRecord.self)
        }
        guard case .success(let record) = read, Envelope.versions.contains(record.version) else {
            throw Report(
                .refused,
                "'\(path)' is not what slate-fetch has written. No slatefile is applied. Remove it if no attacker can have damaged it; every signed version is accepted once then"
            )
        }
        self = record
    }

    /// Writes the file: when the call returns it is on the disk.
    func write(to path: String) throws(Report) {
        var json = JSONWriter()
        json.object {
            $0.member("version", version)
            $0.member("slatefile", slatefile)
            $0.member("outcome", outcome.rawValue)
            $0.member("unanswered", unanswered)
            if let reason { $0.member("reason", reason) }
        }
        json.newline()
        do throws(DurableFileError) {
            try DurableFile.replace(path, with: json.bytes)
        } catch {
            throw Report(
                .refused,
                "\(error). No slatefile is applied until what was seen can be stored; make room, or check the permissions"
            )
        }
    }
}

/// The file of a host's record, with an outcome that the disk has not taken yet.
struct RecordFile {
    let path: String
    private var unstored: FetchRecord?

    init(_ path: String) { self.path = path }

    /// Returns the record, which has the last outcome: that is stored first, if the disk did not take it.
    ///
    /// - Throws: ``Report`` if the file cannot be read, or the outcome still not be stored.
    mutating func read() throws(Report) -> FetchRecord {
        if let unstored { try store(unstored) }
        return try FetchRecord(from: path)
    }

    /// Stores an outcome, now or before the next ``read()``.
    mutating func store(_ outcome: FetchRecord) throws(Report) {
        unstored = outcome
        try outcome.write(to: path)
        unstored = nil
    }
}

import Foundation
import ModuleHostTesting
import Testing

@testable import SlateFetch

@Suite("What a host has seen") struct FetchRecordTests {
    private func next(_ record: inout FetchRecord, _ envelope: Envelope) throws -> FetchRecord.Step
    {
        try record.next(envelope, hostID: Samples.hostID)
    }

    private func text(_ step: FetchRecord.Step) -> String {
        switch step {
        case .apply: "apply"
        case .nothing(let report): report.text
        }
    }

    @Test func `A version is applied until it is kept, then no more`() throws {
        var record = FetchRecord()
        let envelope = try Samples.envelope(12)
        #expect(try next(&record, envelope) == .apply)
        #expect(try next(&record, envelope) == .apply)
        record.apply()
        record.keep()
        #expect(text(try next(&record, envelope)) == "version 12 is in effect")
        #expect(try next(&record, try Samples.envelope(13)) == .apply)
    }

    @Test func `An older version is refused, also in the next process`() throws {
        let folder = try TemporaryFolder()
        var record = try FetchRecord(from: folder.path("record.json"))
        _ = try next(&record, try Samples.envelope(12, stage: 0))
        try record.write(to: folder.path("record.json"))
        var later = try FetchRecord(from: folder.path("record.json"))
        #expect(later == record)
        let error = try #require(throws: Report.self) {
            try next(&later, try Samples.envelope(11))
        }
        #expect(
            "\(error)"
                == "version 11 is older than 12, which this host has seen: refused. If it is wanted again, sign it as version 13"
        )
        #expect(later == record)
    }

    @Test func `A version has one slatefile`() throws {
        var record = FetchRecord()
        _ = try next(&record, try Samples.envelope(12))
        let error = try #require(throws: Report.self) {
            try next(&record, try Samples.envelope(12, slatefile: "{ }"))
        }
        #expect(
            "\(error)"
                == "version 12 has another slatefile than when this host saw it first: refused. Sign each slatefile with a version of its own, 13 or higher"
        )
    }

    @Test func `A host waits for its stage, which needs no other version`() throws {
        var record = FetchRecord()
        let place = try Samples.envelope(12).place(of: Samples.hostID)
        let waits = try next(&record, try Samples.envelope(12, stage: place))
        #expect(
            text(waits)
                == "version 12 is at stage \(place), and this host takes it from stage \(place + 1) on"
        )
        #expect(try next(&record, try Samples.envelope(12, stage: place + 1)) == .apply)
    }

    @Test func `A version that was rolled back is not tried again, its successor is`() throws {
        var record = FetchRecord()
        _ = try next(&record, try Samples.envelope(12))
        record.apply()
        record.rollBack("module 'x' failed")
        record.start()
        #expect(
            text(try next(&record, try Samples.envelope(12)))
                == "version 12 was rolled back, and is not tried again here: module 'x' failed. Publish a mended slatefile as version 13"
        )
        #expect(try next(&record, try Samples.envelope(13)) == .apply)
        record.start()
        #expect(try next(&record, try Samples.envelope(13)) == .apply)
    }

    @Test func `Two processes without an answer do not make a version rolled back`() throws {
        var record = FetchRecord()
        let envelope = try Samples.envelope(12)
        _ = try next(&record, envelope)
        record.apply()
        record.start()
        #expect(try next(&record, envelope) == .apply)
        record.apply()
        record.start()
        #expect(record.outcome == .unknown)
        let folder = try TemporaryFolder()
        try record.write(to: folder.path("record.json"))
        var later = try FetchRecord(from: folder.path("record.json"))
        #expect(later == record)
        later.start()
        #expect(
            text(try next(&later, envelope))
                == "version 12 is not tried again here, and its outcome is not known: 'hostd status' says what is in effect. The host, or slate-fetch, has ended twice while it was on probation. Publish a slatefile as version 13"
        )
        #expect(try next(&later, try Samples.envelope(13)) == .apply)
    }

    @Test func `An outcome that the disk does not take is stored before the record is read`() throws
    {
        let folder = try TemporaryFolder()
        var record = FetchRecord()
        _ = try next(&record, try Samples.envelope(12))
        record.apply()
        var file = RecordFile(folder.path("record.json"))
        try record.write(to: file.path)
        let obstacle = folder.path("record.json.new")
        try FileManager.default.createDirectory(
            atPath: obstacle, withIntermediateDirectories: false)
        record.keep()
        #expect(throws: Report.self) { try file.store(record) }
        #expect(throws: Report.self) { try file.read() }
        #expect(try FetchRecord(from: file.path).outcome == .trying)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try file.read() == record)
        #expect(try FetchRecord(from: file.path) == record)
    }

    @Test func `The reason of a rollback of any length can be read again`() throws {
        let folder = try TemporaryFolder()
        var record = FetchRecord()
        _ = try next(&record, try Samples.envelope(12))
        record.rollBack(String(repeating: "x", count: 2_000_000))
        try record.write(to: folder.path("record.json"))
        #expect(try FetchRecord(from: folder.path("record.json")) == record)
    }

    @Test(arguments: [
        "", "{}", #"{"version":12}"#,
        #"{"version":9223372036854775807,"slatefile":"","outcome":"seen","unanswered":0}"#,
    ])
    func `A file that was damaged is not taken for a host that has seen nothing`(text: String)
        throws
    {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "record.json")
        let error = try #require(throws: Report.self) {
            try FetchRecord(from: folder.path("record.json"))
        }
        #expect(error.isProblem)
        #expect(
            error.text.hasSuffix(
                "No slatefile is applied. Remove it if no attacker can have damaged it; every signed version is accepted once then"
            ))
    }
}

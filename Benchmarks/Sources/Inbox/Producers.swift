import Foundation
import InboxFile
import Served

/// A way to have one event after another on the disk.
protocol Producer {
    /// Returns when the event is safe.
    func produce(_ event: [UInt8]) throws
}

/// One thread that waits for the disk after each event: all ways in turn, on one disk.
func measureProducers(in folder: URL) throws {
    let event = Array(
        #"{"event":"push","payload":{"aps":{"badge":3}},"id":"order-17","time":"2026-03-01T09:41:00.123Z"}"#
            .utf8)
    var ways: [(title: String, producer: any Producer)] = [
        ("bare `write` and `fdatasync`", try BareFile(folder.appending(path: "bare").path)),
        ("`InboxWriter`", try InboxProducer(folder.appending(path: "inbox").path)),
        (
            "bare `pwrite` over what is there, and `fdatasync`",
            try OverwrittenFile(folder.appending(path: "overwritten").path)
        ),
    ]
    do {
        ways.append(
            (
                "SQLite, WAL, `synchronous=FULL`",
                try SQLiteTable(folder.appending(path: "sqlite").path)
            ))
    } catch {
        FileHandle.standardError.write(Data("without SQLite: \(error)\n".utf8))
    }
    let (rounds, count) = (21, 200)
    var metrics: [[Int]] = ways.map { _ in [] }
    for number in 0..<rounds {
        for (index, way) in ways.enumerated().turns(inRound: number) {
            let began = nanoseconds()
            for _ in 0..<count { try way.producer.produce(event) }
            metrics[index].append((nanoseconds() - began) / count)
        }
    }
    let bare = median(metrics[0])
    print("| one producer, \(event.count) bytes an event | µs | of the bare file |")
    print("|---|---:|---:|")
    for (way, metrics) in zip(ways, metrics) {
        let ratio = median(metrics) * 100 / bare
        print(
            "| \(way.title) | \(tenths(median(metrics), of: 1000)) | "
                + "\(ratio / 100).\(ratio % 100 < 10 ? "0" : "")\(ratio % 100) |")
    }
}

/// As little as it takes: a file, and no other writer.
struct BareFile: Producer {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw Failure.system("open \(path)") }
    }

    func produce(_ event: [UInt8]) throws {
        guard write(descriptor, event, event.count) == event.count, fdatasync(descriptor) == 0
        else {
            throw Failure.system("write")
        }
    }
}

/// What a log costs that does not grow, as SQLite's mostly does not: the disk has nothing to note but the
/// bytes.
final class OverwrittenFile: Producer {
    private static let size = 4 << 20
    private let descriptor: Int32
    private var offset = 0

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        let zeros = [UInt8](repeating: 0, count: Self.size)
        guard descriptor >= 0, pwrite(descriptor, zeros, zeros.count, 0) == zeros.count,
            fsync(descriptor) == 0
        else { throw Failure.system("make \(path)") }
    }

    func produce(_ event: [UInt8]) throws {
        if offset + event.count > Self.size { offset = 0 }
        guard pwrite(descriptor, event, event.count, off_t(offset)) == event.count,
            fdatasync(descriptor) == 0
        else { throw Failure.system("write") }
        offset += event.count
    }
}

/// The host's own.
struct InboxProducer: Producer {
    private let inbox: InboxFile

    init(_ path: String) throws { inbox = try InboxFile(path) }

    func produce(_ event: [UInt8]) throws { try inbox.append(event) }
}

/// A table with one row an event, of the SQLite that the system has, if it has one.
final class SQLiteTable: Producer {
    private typealias Handle = OpaquePointer
    private typealias Open =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Int32
    private typealias Execute =
        @convention(c) (Handle?, UnsafePointer<CChar>, Int, Int, Int) -> Int32
    private typealias Prepare =
        @convention(c) (
            Handle?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, Int
        ) -> Int32
    private typealias Bind =
        @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    private typealias Step = @convention(c) (Handle?) -> Int32

    private let bind: Bind
    private let step: Step
    private let reset: Step
    private var insert: Handle?

    init(_ path: String) throws {
        guard let library = dlopen("libsqlite3.so.0", RTLD_NOW) else {
            throw Failure("the system has no libsqlite3.so.0")
        }
        func function<F>(_ name: String, _ type: F.Type) throws -> F {
            guard let symbol = dlsym(library, "sqlite3_\(name)") else {
                throw Failure("libsqlite3 has no sqlite3_\(name)")
            }
            return unsafeBitCast(symbol, to: F.self)
        }
        bind = try function("bind_blob", Bind.self)
        step = try function("step", Step.self)
        reset = try function("reset", Step.self)
        let execute = try function("exec", Execute.self)
        var database: Handle?
        guard try function("open", Open.self)(path, &database) == 0 else {
            throw Failure("SQLite cannot open \(path)")
        }
        for statement in [
            "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
            "CREATE TABLE events (id INTEGER PRIMARY KEY, event BLOB)",
        ] where execute(database, statement, 0, 0, 0) != 0 {
            throw Failure("SQLite refuses '\(statement)'")
        }
        let sql = "INSERT INTO events (event) VALUES (?)"
        guard try function("prepare_v2", Prepare.self)(database, sql, -1, &insert, 0) == 0 else {
            throw Failure("SQLite refuses '\(sql)'")
        }
    }

    func produce(_ event: [UInt8]) throws {
        guard bind(insert, 1, event, Int32(event.count), 0) == 0, step(insert) == 101,
            reset(insert) == 0
        else { throw Failure("SQLite cannot insert") }
    }
}

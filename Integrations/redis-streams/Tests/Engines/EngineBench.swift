import EventStreams
import FileStreams
import Foundation

@testable import RedisStreams

/// The engines that pass the same suite.
enum EngineKind: CaseIterable, Sendable {
    case redis
    case files

    func bench() throws -> any EngineBench {
        switch self {
        case .redis: try RedisBench()
        case .files: try FileBench()
        }
    }
}

/// The access of a test to an engine from outside.
protocol EngineBench: Sendable {
    /// Returns the engine of a host, as a new process of this host has it.
    func engine(_ owner: StreamOwner, trim: Duration) throws -> any StreamEngine
    func goAway() throws
    func comeBack() throws
    func fill() throws
    func makeRoom() throws
    /// Sets a note of what a host has seen, with its time.
    func note(_ record: SeenRecord, of name: StreamName) throws
    /// The sources, positions and reasons of the dead letters.
    func deadLetters() throws -> [String]
}

extension EngineBench {
    func engine(_ name: StreamName) throws -> any StreamEngine {
        try engine(StreamOwner(name: name, mark: "mark of \(name)"), trim: .seconds(3600))
    }
}

struct RedisBench: EngineBench {
    let server: RedisServer

    init() throws { server = try RedisServer() }

    func engine(_ owner: StreamOwner, trim: Duration) throws -> any StreamEngine {
        var settings = try RedisSettings(address: server.address, app: "shop")
        settings.waitMilliseconds = 100
        settings.trim = trim
        settings.removalDelay = .zero
        return RedisStreams(settings, owner: owner)
    }

    func goAway() { server.kill() }
    func comeBack() throws { try server.start() }

    func fill() throws {
        let used = try server.info("memory", "used_memory:")
        try server.command("CONFIG", "SET", "maxmemory", String(used + 1 << 18))
    }

    func makeRoom() throws { try server.command("CONFIG", "SET", "maxmemory", "0") }

    func note(_ record: SeenRecord, of name: StreamName) throws {
        try server.command("HSET", "shop:seen", name.text, record.description)
    }

    func deadLetters() throws -> [String] {
        let entries = try server.command("XRANGE", "shop:dead", "-", "+").elements ?? []
        return entries.map { entry in
            let pairs = entry.elements?.last?.pairs ?? [:]
            return ["source", "position", "reason"].map { pairs[$0]?.text ?? "?" }
                .joined(separator: " ")
        }
    }
}

struct FileBench: EngineBench {
    private let parent: TemporaryFolder
    private var folder: String { parent.path + "/shop" }

    init() throws { parent = try TemporaryFolder(megabytes: 64) }

    func engine(_ owner: StreamOwner, trim: Duration) throws -> any StreamEngine {
        FileStreams(
            folder: folder, owner: owner, trim: trim, wait: .milliseconds(100), removalDelay: .zero)
    }

    func goAway() throws {
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        try Data().write(to: URL(fileURLWithPath: folder))
    }

    func comeBack() throws {
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
    }

    func fill() throws { try parent.fill() }
    func makeRoom() throws { try parent.makeRoom() }

    func note(_ record: SeenRecord, of name: StreamName) throws {
        try Data(record.description.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).seen"))
    }

    func deadLetters() throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/dead.stream"))
        return try FileDeadLetters.read(bytes)
    }
}

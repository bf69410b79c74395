import EventStreams
import FileStreams
import Foundation
import Synchronization

@testable import RedisBridge
@testable import RedisStreams

/// The engine of the hosts of one test.
enum TestEngine: Sendable {
    case redis(RedisSettings)
    case files(String)

    /// Entries are removed at once, unless they stay for some minutes as they do elsewhere.
    static func redis(_ address: RedisAddress, stays: Bool = false) throws -> TestEngine {
        var settings = try RedisSettings(address: address, app: "shop")
        settings.waitMilliseconds = 50
        if !stays { settings.removalDelay = .zero }
        return .redis(settings)
    }

    /// Those of Redis.
    var settings: RedisSettings? { if case .redis(let settings) = self { settings } else { nil } }

    func make(_ owner: StreamOwner) -> any StreamEngine {
        switch self {
        case .redis(let settings): RedisStreams(settings, owner: owner)
        case .files(let folder):
            FileStreams(folder: folder, owner: owner, wait: .milliseconds(50))
        }
    }
}

/// The asynchronous handlers of a module: they begin in the order in which they were given.
@globalActor actor ModuleActor {
    static let shared = ModuleActor()
    private let executor = BlockingExecutor("ModuleActor")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }
}

/// A host with a bridge: it gives events in windows, and again from the oldest one that was not published.
final class TestHost: Sendable {
    let inbox: TestInbox
    let bridge: Bridge
    private let receiving = Mutex<Task<Void, Never>?>(nil)

    init(
        _ id: String, _ engine: TestEngine, folder: String, inbox: TestInbox = TestInbox(),
        config: String = "{}", room: UInt64? = nil, topics: String = #"["shared.*"]"#
    ) throws {
        self.inbox = inbox
        let more = config == "{}" ? "}" : ", " + config.dropFirst()
        let all = #"{"url": "unix:/not-used", "topics": "# + topics + more
        let settings = try JSONDecoder().decode(BridgeConfiguration.self, from: Data(all.utf8))
            .settings(app: "shop", folder: "/")
        bridge = try Bridge(
            settings, hostID: id, folder: folder, host: inbox, retry: .seconds(3600),
            room: { room }, settingsOfGroup: engine.settings, makeEngine: { engine.make($0) })
    }

    func receive() {
        let bridge = bridge
        receiving.withLock { $0 = Task { await bridge.receive() } }
    }

    /// Ends receiving, and returns when it has ended.
    func stop() async {
        let task = receiving.withLock { $0.take() }
        task?.cancel()
        inbox.close()
        await task?.value
    }

    /// Publishes messages as a host does: up to eight handlers at a time, and after a failure all again from the oldest.
    ///
    /// - Returns: The number of times that the host began again.
    @discardableResult
    func publish(_ messages: [Bridge.Message], window: Int = 8) async -> Int {
        var (next, failures) = (0, 0)
        while next < messages.count {
            let count = min(window, messages.count - next)
            let handlers = messages[next..<next + count].map { message in
                // In the order in which they are created, since the actor is theirs.
                Task { @ModuleActor [bridge] in await Self.give(message, to: bridge) }
            }
            var published: [Bool] = []
            for handler in handlers { published.append(await handler.value) }
            let done = published.prefix { $0 }.count
            if done < count { failures += 1 }
            next += done
        }
        return failures
    }
}

extension TestHost {
    @ModuleActor private static func give(_ message: Bridge.Message, to bridge: Bridge) async
        -> Bool
    {
        do throws(NotNow) {
            try await bridge.publish(message)
            return true
        } catch {
            return false
        }
    }
}

/// Messages of one host, with growing positions.
func messages(
    _ range: ClosedRange<Int>, of host: String, source: String? = nil,
    topic: String = "shared.order"
) -> [Bridge.Message] {
    range.map {
        // A host gives the position for the id of an event that was sent without one.
        Bridge.Message(
            position: "1:\($0 * 100)", id: "1:\($0 * 100)", source: source, topic: topic,
            body: "\"\(host) \($0)\"")
    }
}

func bodies(_ range: ClosedRange<Int>, of host: String) -> [String] {
    range.map { "\"\(host) \($0)\"" }
}

/// Asks again and again, until something is so.
///
/// - Throws: What the question throws, and at the end of the test's time.
func poll(until isSo: () throws -> Bool) async throws {
    while try !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// A folder of a test, removed with the object.
final class TestFolder: Sendable {
    let path: String

    init() throws { path = try newFolder() }

    /// Creates a folder in it.
    func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        return "\(path)/\(name)"
    }

    /// Copies a folder of it, as a backup or a cloned machine does.
    func copy(_ name: String, to other: String) throws -> String {
        try? FileManager.default.removeItem(atPath: "\(path)/\(other)")
        try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(other)")
        return "\(path)/\(other)"
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

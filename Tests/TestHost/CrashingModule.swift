import Glibc
public import ModuleHost

/// Crashes in the way that a message on the topic `crash` names; on the topic `masks` it logs which signals
/// its process blocks, ignores and catches.
public final class CrashingModule: MessageResponder, ConfiguredModule {
    /// Its settings.
    public struct Configuration: Decodable, Sendable {
        /// The way in which its creation crashes; nil for a creation that does not.
        var atInit: Crash?
    }

    /// The topics that it receives.
    public let topics = ["crash", "masks"]
    private let log: Log

    /// - Parameter context: Its log and settings.
    /// - Throws: Where its settings are not valid.
    public init(context: ModuleContext) throws {
        log = context.log
        if let way = try context.config(Configuration.self).atInit { crash(way) }
    }

    /// Does what the message says.
    public func receive(_ message: Message) {
        guard message.topic == "crash" else {
            return log.info(signalMasks())
        }
        guard let way = message.payload?.string.flatMap(Crash.init) else {
            return log.error("no such crash")
        }
        crash(way)
    }

    private func crash(_ way: Crash) {
        switch way {
        case .trap: fatalError("as the test wants")
        // Not at 0: that store the compiler would make something else of.
        case .null: UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
        case .overflow: log.info("\(descend(1))")
        case .abort: abort()
        }
    }
}

/// How to crash.
enum Crash: String, Decodable {
    case trap
    /// The store to a member of what is not there.
    case null
    case overflow, abort
}

/// Calls itself for ever, with something on the stack that the compiler cannot do without.
@inline(never)
private func descend(_ depth: Int) -> Int {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 64) { memory in
        memory.initialize(repeating: depth)
        let deeper = depth > 0 ? descend(depth + 1) : 0
        return memory.reduce(deeper, &+)
    }
}

import Foundation
import ModuleHost
import PlainModules
import Served
import Synchronization

/// Adds a route when it is called: its URL begins as those of all others of its class do.
final class SharedStartModule: RootProvider, RoutedModule {
    static var routes: [Route<SharedStartModule>] {
        [Route("add", access: .public) { module, _ in try module.addRoute() }]
    }

    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    private func addRoute() throws {
        try context.router.add(
            Route<SharedStartModule>("shared/item\(context.number)/:id", access: .public) { _, _ in
                1
            })
    }
}

/// Has a start-up task that READY waits for.
final class TaskModule: RootProvider {
    init(context: ModuleContext) throws {
        try context.startup("nothing", priority: .high) {}
    }
}

/// Fails in its first launches, and says how long it took from the first launch of all until each of them runs.
final class FailingModule: RootProvider, LaunchResponder {
    struct Configuration: Decodable, Sendable {
        /// The number of launches in which it fails.
        var times: Int
        /// The number of modules of this class.
        var of: Int
        /// The file that the last one writes.
        var done: String
    }

    private struct Launches {
        var ofModules: [String: Int] = [:]
        var began = 0
        var running = 0
    }

    private static let launches = Mutex(Launches())

    private let context: ModuleContext
    private let configuration: Configuration

    init(context: ModuleContext) throws {
        self.context = context
        configuration = try context.config(Configuration.self)
    }

    func didFinishLaunching(_: Launch) throws {
        let took = Self.launches.withLock { launches -> Int? in
            if launches.began == 0 { launches.began = nanoseconds() }
            launches.ofModules[context.id.text, default: 0] += 1
            guard launches.ofModules[context.id.text, default: 0] > configuration.times else {
                return nil
            }
            launches.running += 1
            return nanoseconds() - launches.began
        }
        guard let took else { throw Failure("it is not time yet") }
        guard Self.launches.withLock({ $0.running }) == configuration.of else { return }
        try String(took).write(toFile: configuration.done, atomically: true, encoding: .utf8)
    }
}

/// Hangs until a file is there, and says how long it took to catch up with what came meanwhile.
final class BehindModule: MessageResponder {
    struct Configuration: Decodable, Sendable {
        /// The last of the ticks.
        var last: Int
        /// The file that lets it go on.
        var door: String
        /// The file that it writes when it has caught up.
        var done: String
    }

    let topics = ["hang", "tick"]
    private let configuration: Configuration
    private var began = 0

    init(context: ModuleContext) throws {
        configuration = try context.config(Configuration.self)
    }

    func receive(_ message: Message) throws {
        if message.topic == "hang" {
            while !FileManager.default.fileExists(atPath: configuration.door) { usleep(1000) }
            began = nanoseconds()
        } else if message.payload?.int == configuration.last {
            try String(nanoseconds() - began)
                .write(toFile: configuration.done, atomically: true, encoding: .utf8)
        }
    }
}

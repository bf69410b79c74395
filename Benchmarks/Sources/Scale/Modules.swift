import Foundation
import ModuleHost
import PlainModules
import Served

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

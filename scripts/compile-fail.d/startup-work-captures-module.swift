// error: capture of 'self' with non-Sendable type 'Feed' in a '@Sendable' closure
import ModuleHost

// Work of the start-up queue runs off the lane, so it must not see the module.
final class Feed: Module {
    private var lines: [String] = []

    init(context: ModuleContext) throws {
        try context.startup("feed") {
            ["news"]
        } then: { lines in
            self.lines = lines
        }
        try context.startup("trim") {
            self.lines.removeAll()  // refused
        }
    }
}

import Dispatch
import ModuleHostCore

/// A module that prints the orders that it receives, and never returns from the order `stuck` of its first program.
final class OrderModule: MessageResponder, RootProvider {
    let topics = ["ordered"]
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    var root: String? { nil }

    func receive(_ message: Message) {
        let isRepeated = context.event?.isRepeated == true
        let id = context.event?.id ?? ""
        say("\(isRepeated ? "again" : "received"): \(id)")
        if id == "stuck", !isRepeated { DispatchSemaphore(value: 0).wait() }
    }
}

/// Prints a line at once, also where stdout is a pipe.
func say(_ line: String) {
    try? RawOutput.writeAll("\(line)\n".utf8, to: RawOutput.standardOutput)
}

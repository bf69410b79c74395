// error: capture of 'self' with non-Sendable type 'Sender' in a '@Sendable' closure
import ModuleHost

protocol Receiver {
    func take(_ text: String)
    func take(_ sender: AnyObject)
}

// A message takes values from one module to another, never a reference of the sender's.
final class Sender: LaunchResponder {
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func didFinishLaunching(_ launch: Launch) {
        let app = launch.app
        context.center.send(to: (any Receiver).self) { $0.take(app) }
        context.center.send(to: (any Receiver).self) { $0.take(self) }  // refused
    }
}

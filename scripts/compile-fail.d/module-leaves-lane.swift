// error: passing closure as a 'sending' parameter risks causing data races
import ModuleHost

// A module does not go into a task of its own making.
final class Wanderer: LaunchResponder {
    private var count = 0

    init(context: ModuleContext) {}

    func didFinishLaunching(_ launch: Launch) {
        count += 1
        Task { self.count += 1 }  // refused
    }
}

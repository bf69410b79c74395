// error: sending 'image' risks causing data races
import ModuleHost

final class Image { var width = 0 }

// An object that is given away is not used any more.
final class Painter: LaunchResponder {
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func didFinishLaunching(_ launch: Launch) throws {
        let image = Image()
        image.width = 3
        try context.mediator.perform("com.mm.viewer", "show", userInfo: ["image": Handover(image)])
        image.width = 4  // refused
    }
}

import Dispatch
public import ModuleHost
import Synchronization

/// The main module of a host to be measured: it runs, inside its own handler and so on the lane, what
/// a benchmark hands it.
public final class LaneModule: Module, RootProvider, LaunchResponder {
    private let context: ModuleContext

    /// Keeps its way to the other modules.
    public init(context: ModuleContext) { self.context = context }

    /// Nothing to show.
    public var root: String? { nil }

    /// Takes one errand after another and never returns: the launch is given a day.
    public func didFinishLaunching(_ launch: Launch) {
        while true {
            errands.wait { $0(context) }
        }
    }

    /// Has the lane run `body`, in this module's handler.
    public static func run(_ body: @escaping @Sendable (ModuleContext) -> Void) {
        errands.add(body)
    }
}

private let errands = Errands()

private final class Errands: Sendable {
    typealias Errand = @Sendable (ModuleContext) -> Void

    private let waiting = Mutex<[Errand]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func add(_ errand: @escaping Errand) {
        waiting.withLock { $0.append(errand) }
        arrived.signal()
    }

    func wait(_ run: (Errand) -> Void) {
        arrived.wait()
        if let errand = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { run(errand) }
    }
}

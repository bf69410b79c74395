import ModuleHostCore

/// A module that is a program of its own: it has several uploads at a time, each until another one says that it may end.
final class UploadsModule: AsyncMessageResponder, WindowedModule {
    static let window = 3

    let topics = ["upload.*"]
    private let context: ModuleContext
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(context: ModuleContext) { self.context = context }

    func receive(_ message: Message, isolation: isolated any Actor) async throws {
        let id = context.event?.id ?? ""
        let again = context.event?.isRepeated == true ? " again" : ""
        context.log.notice("begins \(id)\(again), host \(context.hostID ?? "without id")")
        switch message.topic {
        case "upload.begin": await withCheckedContinuation { waiting.append($0) }
        case "upload.later" where again.isEmpty: throw RetryLater(after: .milliseconds(20))
        default:
            for upload in waiting { upload.resume() }
            waiting = []
        }
        context.log.notice("ends \(id)")
    }
}

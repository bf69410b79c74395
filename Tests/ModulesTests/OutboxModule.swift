import AppService
import ModuleHost
import TestSupport

/// Sends what was written when the app leaves sight, and holds the step for as long as that takes, as
/// docs/modules.md shows it.
final class OutboxModule: RoutedModule, ConfiguredModule, BackgroundResponder {
    struct Configuration: Decodable {
        /// The name of the test's post office.
        var office: String
    }

    struct Letter: Decodable {
        var text: String
    }

    struct Receipt: Decodable {
        var count: Int
    }

    private let context: ModuleContext
    private let office: PostOffice
    private var letters: [String] = []
    private var sending: Task<Void, Never>?

    init(context: ModuleContext) throws {
        self.context = context
        office = PostOffice.named(try context.config(Configuration.self).office)
    }

    static var routes: [Route<OutboxModule>] {
        [
            Route("outbox/write") { (module, letter: Letter, call) in
                module.letters.append(letter.text)
            },
            Route("outbox/sent", action: "sent") { (module, receipt: Receipt, call) in
                module.letters.removeFirst(min(receipt.count, module.letters.count))
                module.context.log.info("\(receipt.count) sent, \(module.letters.count) left")
            },
        ]
    }

    func didEnterBackground() throws {
        guard !letters.isEmpty else { return }
        let hold = try context.hold("sending \(letters.count) letters") {
            self.sending?.cancel()  // on the lane: the time is over
        }
        let mediator = context.mediator.offLane
        sending = Task { [id = context.id.text, office, letters] in
            let count = await office.send(letters)  // off the lane, without the module
            _ = try? await mediator.perform(id, "sent", ["count": count])  // on the lane
            hold.end()
        }
    }
}

/// Where letters go when the test opens it.
final class PostOffice: Sendable {
    private static let all = Guarded<[String: PostOffice]>([:])

    /// Whether letters are taken; a sending that is cancelled closes it.
    let isOpen = Promise<Bool>()

    static func named(_ name: String) -> PostOffice {
        all.withLock { all in
            let office = all[name] ?? PostOffice()
            all[name] = office
            return office
        }
    }

    func send(_ letters: [String]) async -> Int {
        await withTaskCancellationHandler {
            await isOpen.value ? letters.count : 0
        } onCancel: {
            isOpen.keep(false)
        }
    }
}

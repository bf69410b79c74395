import AppService
import ModuleHostCore
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

    private let context: ModuleContext
    private let office: PostOffice
    private var letters: [String] = []

    init(context: ModuleContext) throws {
        self.context = context
        office = PostOffice.named(try context.config(Configuration.self).office)
    }

    static var routes: [Route<OutboxModule>] {
        [
            Route("outbox/write") { (module, letter: Letter, call) in
                module.letters.append(letter.text)
            }
        ]
    }

    func didEnterBackground() throws {
        guard !letters.isEmpty else { return }
        try context.perform("sending \(letters.count) letters", holding: true) {
            [office, letters] in
            await office.send(letters)  // off the lane, without the module
        } then: { count in
            self.letters.removeFirst(count)  // in the module
            self.context.log.info("\(count) sent, \(self.letters.count) left")
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

import Synchronization

/// The URLs of the inbox that modules have yet to answer: a limited number of each module's.
///
/// Beyond the limit a URL waits for its module, in order, while other events go on. Counted from any thread; what
/// waits belongs to the lane.
final class UnansweredURLs: Sendable {
    /// The number of URLs that a module may have begun and not answered.
    static let limit = 64

    private struct Module {
        var begun = 0
        var waiting = Deque<Waiting>()
        /// Whether the limit was reached, and half of what was begun has no answer yet, or URLs wait.
        var isBlocked = false
    }

    /// A URL that waits.
    struct Waiting: Sendable {
        let entry: InboxEntry
        /// Makes the call; on the lane, with a ticket for the module.
        let begin: @Sendable (App, Ticket) -> Void
    }

    private let modules = Guarded<[ModuleID: Module]>([:])

    /// The right of one URL to wait for an answer; given back once.
    final class Ticket: Sendable {
        private let urls: UnansweredURLs
        private let module: Guarded<ModuleID?>
        private let onRelease: @Sendable (ModuleID) -> Void

        fileprivate init(
            _ urls: UnansweredURLs, for module: ModuleID?,
            onRelease: @escaping @Sendable (ModuleID) -> Void
        ) {
            self.urls = urls
            self.module = Guarded(module)
            self.onRelease = onRelease
        }

        deinit { release() }

        /// Notes that a module is about to begin the URL.
        ///
        /// - Throws: ``ModuleIsFull``.
        func admit(_ next: ModuleID) throws {
            if module.withLock({ $0 == next }) { return }
            release()
            guard urls.enter(next) else { throw ModuleIsFull(module: next) }
            module.withLock { $0 = next }
        }

        /// Gives the ticket back: there is an answer, or the URL was not begun.
        func release() {
            let former = module.withLock { $0.take() }
            guard let former, urls.leave(former) else { return }
            onRelease(former)
        }
    }

    /// Creates the ticket of a URL.
    ///
    /// - Parameters:
    ///   - module: The module that has been chosen for the URL, if it has waited.
    ///   - onRelease: Called when the next URL of a module can begin, from any thread.
    /// - Returns: The ticket, to be released when the URL is answered.
    func ticket(
        for module: ModuleID? = nil, onRelease: @escaping @Sendable (ModuleID) -> Void
    ) -> Ticket {
        Ticket(self, for: module, onRelease: onRelease)
    }

    private func enter(_ id: ModuleID) -> Bool {
        modules.withLock { modules in
            let module = modules[id] ?? Module()
            guard module.begun < Self.limit, module.waiting.isEmpty else { return false }
            modules[id, default: module].begun += 1
            return true
        }
    }

    /// - Returns: Whether a URL waits that can begin.
    private func leave(_ id: ModuleID) -> Bool {
        modules.withLock { modules in
            guard modules[id] != nil else { return false }
            modules[id]?.begun -= 1
            if let module = modules[id], module.begun == 0, !module.isBlocked { modules[id] = nil }
            return modules[id]?.isBlocked == true
        }
    }

    // MARK: The lane

    /// Keeps a URL until its module has answered others.
    ///
    /// - Returns: Whether the module has none that waits so far.
    func wait(_ waiting: Waiting, for id: ModuleID) -> Bool {
        modules.withLock { modules in
            let isFirst = modules[id]?.isBlocked != true
            modules[id, default: Module()].isBlocked = true
            modules[id]?.waiting.append(waiting)
            return isFirst
        }
    }

    /// Takes the next URL that waits for a module, which counts as begun.
    ///
    /// - Returns: The URL, if there is one and the module may begin it; and whether the module is not blocked any more.
    func next(of id: ModuleID) -> (waiting: Waiting?, isFree: Bool) {
        modules.withLock { modules in
            guard let module = modules[id], module.isBlocked else { return (nil, false) }
            guard module.begun < Self.limit else { return (nil, false) }
            if let next = modules[id]?.waiting.popFirst() {
                modules[id]?.begun += 1
                return (next, false)
            }
            // Not at the limit: each answer would free the module, and each URL block it.
            guard module.begun <= Self.limit / 2 else { return (nil, false) }
            modules[id]?.isBlocked = false
            if module.begun == 0 { modules[id] = nil }
            return (nil, true)
        }
    }

    /// The modules for which URLs wait.
    var blocked: [ModuleID] {
        modules.withLock { $0.filter(\.value.isBlocked).map(\.key).sortedByText(\.text) }
    }
}

/// The error of a URL whose module has as many without an answer as it may have.
///
/// No caller receives it.
struct ModuleIsFull: Error {
    let module: ModuleID
}

extension Mailboxes {
    /// The one that takes from a mailbox.
    enum Taker {
        /// None: the module has failed, is not made yet, or has yet to begin with the events that waited for it.
        case unattended
        /// The module, on the lane, when it has answered its event; no thread is in it.
        case answer
        /// The thread of an overdue module; by the number of those that became overdue before it.
        case thread(LaneThread, turn: Int)

        var thread: LaneThread? {
            if case .thread(let thread, _) = self { thread } else { nil }
        }
    }

    /// The mailbox of a module.
    ///
    /// An object: a change of a value that is read elsewhere meanwhile would copy its events.
    final class Entry {
        let slot: ModuleSlot
        var mail: Mailbox
        var taker = Taker.unattended
        /// Whether the durable events on the disk are not for the present instance of the module: it has failed, or the app
        /// stops and the next host delivers them.
        var isHeld = false
        /// Work that the overdue module's thread does before it goes on.
        var deferred = Deque<DeferredWork>()
        /// Whether its thread has ended before it had caught up, since the lane was closed: then no work is deferred.
        var isLeftBehind = false

        init(_ slot: ModuleSlot, _ mail: Mailbox = Mailbox()) {
            (self.slot, self.mail) = (slot, mail)
        }

        var isBehind: Bool {
            if case .unattended = taker { false } else { true }
        }
        var isAnswerAwaited: Bool {
            if case .answer = taker { true } else { false }
        }
        /// Whether it is to answer before more events are accepted than it may have in memory: it does, by itself.
        var waitsWhenFull: Bool { isAnswerAwaited && !mail.open.isPaused }
        /// Whether its mail counts: it is the app's, or is to have the mail once it is made again.
        var counts: Bool { slot.isListed || isHeld }
    }

    /// The next step of a module that goes on with its mail.
    enum Step {
        case event(LifecycleEvent)
        /// Continue in the inbox, from this position, since the events are not in memory.
        case read(EventPosition)
        case deferred(DeferredWork)
        /// The module is unloaded, and its deferred work is dropped.
        case dropped(DeferredWork)
        /// The module has an event yet to answer: no thread waits for that any more.
        case open
        /// The module is not behind any more; this many events were dropped for it.
        case rejoined(missed: Int)
    }
}

/// The durable events that a module has not received.
struct UndeliveredEvents: Hashable, Sendable {
    /// The first one.
    let first: EventPosition
    /// Whether the module has begun it in the host's process: a death of the host may be its doing.
    var isBegun = false
    /// The last one of which the module was notified.
    var notified: EventPosition?
}

/// Work for an overdue module when it returns.
struct DeferredWork: Sendable {
    let run: @Sendable () -> Void
    /// Called instead where the module is unloaded by then.
    var abandon: @Sendable () -> Void = {}
}

/// Takes one event to those who respond to it: to all of a center, or to one late module.
protocol Courier {
    /// Tells every responder of a kind, in order.
    mutating func tell<Responder>(
        _ kind: Responder.Type, _ body: (Responder, Cell) throws -> Void)

    /// Asks every responder of a kind, in order, until the tally has what it needs.
    mutating func ask<Responder>(_ kind: Responder.Type, _ body: (Responder) throws -> EventReply)
}

/// What a responder answers to an event that wants an answer.
enum EventReply: Sendable {
    case fetch(FetchResult)
    case claim(Bool)
}

extension LifecycleEvent {
    /// Hands the event to a courier, with the method by which each kind is told.
    func deliver(by courier: inout some Courier) {
        switch content {
        case .none: deliverBare(by: &courier)
        case .launch(let launch):
            courier.tell((any LaunchResponder).self) { module, _ in
                try module.didFinishLaunching(launch)
            }
        case .push(let notification):
            courier.ask((any RemoteNotificationResponder).self) {
                .fetch(try $0.didReceiveRemoteNotification(notification))
            }
        case .deviceToken(let token):
            courier.tell((any RemoteNotificationResponder).self) { module, _ in
                try module.didRegisterForRemoteNotifications(deviceToken: token)
            }
        case .registrationFailure(let failure):
            courier.tell((any RemoteNotificationResponder).self) { module, _ in
                try module.didFailToRegisterForRemoteNotifications(error: failure)
            }
        case .notificationSettings(let settings):
            courier.tell((any NotificationSettingsResponder).self) { module, _ in
                try module.didChangeNotificationSettings(settings)
            }
        case .localNotification(let notification):
            courier.tell((any LocalNotificationResponder).self) { module, _ in
                try module.didReceiveLocalNotification(notification)
            }
        case .url(let url):
            let options = OpenURLOptions(origin: origin)
            courier.ask((any URLResponder).self) { .claim(try $0.open(url, options: options)) }
        case .activity(let activity):
            courier.ask((any UserActivityResponder).self) {
                .claim(try $0.continueActivity(activity))
            }
        case .shortcut(let shortcut):
            courier.ask((any ShortcutResponder).self) { .claim(try $0.performShortcut(shortcut)) }
        case .configuration(let reload):
            courier.tell((any ConfigurationResponder).self) { module, cell in
                try module.configurationDidChange(reload.change(for: cell.id))
            }
        case .message(let message):
            courier.tell((any MessageResponder).self) { module, _ in
                if module.topics.contains(where: { isTopic(message.topic, wantedBy: $0) }) {
                    try module.receive(message)
                }
            }
        }
    }

    private func deliverBare(by courier: inout some Courier) {
        switch kind {
        case .activate:
            courier.tell((any ActivationResponder).self) { module, _ in
                try module.didBecomeActive()
            }
        case .resignActive:
            courier.tell((any ActivationResponder).self) { module, _ in
                try module.willResignActive()
            }
        case .background:
            courier.tell((any BackgroundResponder).self) { module, _ in
                try module.didEnterBackground()
            }
        case .foreground:
            courier.tell((any BackgroundResponder).self) { module, _ in
                try module.willEnterForeground()
            }
        case .terminate:
            courier.tell((any TerminationResponder).self) { module, _ in
                try module.willTerminate()
            }
        case .memoryWarning:
            courier.tell((any MemoryWarningResponder).self) { module, _ in
                try module.didReceiveMemoryWarning()
            }
        case .launch, .push, .pushRegistered, .pushRegistrationFailed, .notificationSettings,
            .localNotification, .openURL, .userActivity, .shortcut, .configurationChanged,
            .message:
            break  // These have content.
        }
    }
}

/// What has come of an event so far.
struct EventTally {
    /// How many were told and returned.
    var delivered = 0
    /// How many were told and threw.
    var failed = 0
    /// How many are late; the event waits for them.
    var late = 0
    /// The replies so far as one, where the event wants one.
    var fetch: FetchResult?
    /// The module that claimed the event.
    var claimedBy: Cell?
    /// The number of the module at which a search for who claims the event ended.
    var lastAsked = UInt16.max

    /// One that was counted as delivered threw.
    mutating func toldFailed() {
        delivered -= 1
        failed += 1
    }

    /// One that was counted as delivered became late in it.
    ///
    /// - Returns: Whether the others are to be asked too.
    mutating func toldLate(_ cell: Cell?, of kind: EventKind) -> FanStep {
        delivered -= 1
        late += 1
        return takeLate(from: cell, of: kind)
    }

    /// What a late module counts as: a failed fetch, and the end of a search: going on could act
    /// twice.
    mutating func takeLate(from cell: Cell?, of kind: EventKind) -> FanStep {
        if kind.isClaimed {
            lastAsked = cell?.number ?? .max
            return .end
        }
        return kind.wantsFetchResult ? take(.fetch(.failed), from: cell) : .next
    }

    /// Takes a reply in.
    ///
    /// - Returns: Whether the others are to be asked too.
    mutating func take(_ reply: EventReply, from cell: Cell?) -> FanStep {
        switch reply {
        case .fetch(let result):
            fetch = fetch?.joined(with: result) ?? result
            return .next
        case .claim(false): return .next
        case .claim(true):
            claimedBy = cell
            lastAsked = cell?.number ?? .max
            return .end
        }
    }
}

/// Takes an event round a center, on the lane.
struct LaneCourier: Courier {
    let center: CommunicationCenter
    let gate: Gate
    let thread: LaneThread
    /// The job in hand, whose tally is kept while the lane is ours.
    let job: EventJob
    let event: LifecycleEvent
    /// Where to begin: after this cell.
    let after: UInt16
    /// Told of a responder that threw; says whether the others are to be told.
    let onFailure: (Cell, any Error) -> FanStep
    /// Whether the lane was lost on the way: another thread goes on, and the job is not ours.
    private(set) var isLost = false

    init(
        center: CommunicationCenter, gate: Gate, thread: LaneThread, job: EventJob,
        event: LifecycleEvent, after: UInt16, onFailure: @escaping (Cell, any Error) -> FanStep
    ) {
        self.center = center
        self.gate = gate
        self.thread = thread
        self.job = job
        self.event = event
        self.after = after
        self.onFailure = onFailure
    }

    @inline(__always)
    mutating func tell<Responder>(
        _ kind: Responder.Type, _ body: (Responder, Cell) throws -> Void
    ) {
        let list = center.list(of: kind)
        let end = gate.fanOut(
            to: list, on: thread, after: after, at: event.position,
            late: { _ in
                job.tally.late += 1
                return .next
            },
            failure: { cell, error in
                job.tally.toldFailed()
                return onFailure(cell, error)
            },
            alone: { entries, index in try body(entries[index].responder, entries[index].cell) },
            { entries, index, _ in
                job.tally.delivered += 1
                try body(entries[index].responder, entries[index].cell)
                return .next
            })
        if case .lost = end { isLost = true }
    }

    @inline(__always)
    mutating func ask<Responder>(
        _ kind: Responder.Type, _ body: (Responder) throws -> EventReply
    ) {
        let list = center.list(of: kind)
        let end = gate.fanOut(
            to: list, on: thread, after: after, at: event.position,
            late: { cell in
                job.tally.late += 1
                return job.tally.takeLate(from: cell, of: event.kind)
            },
            failure: { cell, error in
                job.tally.toldFailed()
                if event.kind.wantsFetchResult { _ = job.tally.take(.fetch(.failed), from: cell) }
                return onFailure(cell, error)
            },
            alone: { entries, index in _ = try body(entries[index].responder) },
            { entries, index, passage in
                job.tally.delivered += 1
                let reply = try body(entries[index].responder)
                guard passage.settle() else { throw LaneLost() }
                return job.tally.take(reply, from: entries[index].cell)
            })
        if case .lost = end { isLost = true }
    }
}

/// Takes an event to the members of one late module, on the thread that was stuck.
struct LateCourier: Courier {
    let members: [Member]
    let cell: Cell
    let onFailure: (any Error) -> Void

    func tell<Responder>(_ kind: Responder.Type, _ body: (Responder, Cell) throws -> Void) {
        for member in members where !member.isRemoved {
            guard let responder = member.object as? Responder else { continue }
            do { try body(responder, cell) } catch { onFailure(error) }
        }
    }

    /// The answer comes too late to count.
    func ask<Responder>(_ kind: Responder.Type, _ body: (Responder) throws -> EventReply) {
        tell(kind) { responder, _ in _ = try body(responder) }
    }
}

extension EventKind {
    /// Whether the first responder that claims the event ends the search.
    var isClaimed: Bool { self == .openURL || self == .userActivity || self == .shortcut }

    /// Whether the event wants the responders' replies put together into one.
    var wantsFetchResult: Bool { self == .push }
}

/// Takes one event to those who respond to it: to all of a center, or to one late module.
protocol Courier {
    /// Tells every responder of a kind, in order.
    ///
    /// - Parameters:
    ///   - kind: The responder protocol.
    ///   - body: Tells the entry of an index. An entry taken out of its list would be counted in and out
    ///     for each delivery.
    mutating func tell<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Void)

    /// Offers it to every responder of a kind, in order.
    ///
    /// - Parameters:
    ///   - kind: The responder protocol.
    ///   - body: Tells the entry of an index, unless that does not want to hear of it: then it says false.
    mutating func offer<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Bool)

    /// Asks every responder of a kind, in order, until the tally has what it needs.
    mutating func ask<Responder>(
        _ kind: Responder.Type,
        _ body: (ResponderList<Responder>.Entries, Int) throws -> EventReply)
}

/// The answer of a responder to an event that wants one.
enum EventReply: Sendable {
    case fetch(FetchResult)
    case claim(Bool)
}

extension Courier {
    /// Nobody counts who was told.
    mutating func offer<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Bool
    ) {
        tell(kind) { entries, index in _ = try body(entries, index) }
    }
}

extension LifecycleEvent {
    /// Hands the event to a courier, with the method by which each kind is told.
    func deliver(by courier: inout some Courier) {
        switch content {
        case .none: deliverBare(by: &courier)
        case .launch(let launch):
            courier.tell((any LaunchResponder).self) { modules, i in
                try modules[i].responder.didFinishLaunching(launch)
            }
        case .push(let notification):
            courier.ask((any RemoteNotificationResponder).self) { modules, i in
                .fetch(try modules[i].responder.didReceiveRemoteNotification(notification))
            }
        case .deviceToken(let token):
            courier.tell((any RemoteNotificationResponder).self) { modules, i in
                try modules[i].responder.didRegisterForRemoteNotifications(deviceToken: token)
            }
        case .registrationFailure(let failure):
            courier.tell((any RemoteNotificationResponder).self) { modules, i in
                try modules[i].responder.didFailToRegisterForRemoteNotifications(error: failure)
            }
        case .notificationSettings(let settings):
            courier.tell((any NotificationSettingsResponder).self) { modules, i in
                try modules[i].responder.didChangeNotificationSettings(settings)
            }
        case .localNotification(let notification):
            courier.tell((any LocalNotificationResponder).self) { modules, i in
                try modules[i].responder.didReceiveLocalNotification(notification)
            }
        case .url(let url, _):
            let options = OpenURLOptions(origin: origin)
            courier.ask((any URLResponder).self) { modules, i in
                .claim(try modules[i].responder.open(url.text, options: options))
            }
        case .activity(let activity):
            courier.ask((any UserActivityResponder).self) { modules, i in
                .claim(try modules[i].responder.continueActivity(activity))
            }
        case .shortcut(let shortcut):
            courier.ask((any ShortcutResponder).self) { modules, i in
                .claim(try modules[i].responder.performShortcut(shortcut))
            }
        case .configuration(let reload):
            courier.offer((any ConfigurationResponder).self) { modules, i in
                guard let change = reload.change(for: modules[i].cell.id) else { return false }
                try modules[i].responder.configurationDidChange(change)
                return true
            }
        case .message(let message):
            courier.offer((any MessageResponder).self) { modules, i in
                guard
                    modules[i].member.wants(message.topic, asking: { modules[i].responder.topics })
                else { return false }
                try modules[i].responder.receive(message)
                return true
            }
        }
    }

    private func deliverBare(by courier: inout some Courier) {
        switch kind {
        case .activate:
            courier.tell((any ActivationResponder).self) { modules, i in
                try modules[i].responder.didBecomeActive()
            }
        case .resignActive:
            courier.tell((any ActivationResponder).self) { modules, i in
                try modules[i].responder.willResignActive()
            }
        case .background:
            courier.tell((any BackgroundResponder).self) { modules, i in
                try modules[i].responder.didEnterBackground()
            }
        case .foreground:
            courier.tell((any BackgroundResponder).self) { modules, i in
                try modules[i].responder.willEnterForeground()
            }
        case .terminate:
            courier.tell((any TerminationResponder).self) { modules, i in
                try modules[i].responder.willTerminate()
            }
        case .memoryWarning:
            courier.tell((any MemoryWarningResponder).self) { modules, i in
                try modules[i].responder.didReceiveMemoryWarning()
            }
        case .launch, .push, .pushRegistered, .pushRegistrationFailed, .notificationSettings,
            .localNotification, .openURL, .userActivity, .shortcut, .configurationChanged,
            .message:
            break  // These have content.
        }
    }
}

/// The result of an event so far.
struct EventTally {
    /// The number of responders that were notified and returned; known at the end.
    var delivered = 0
    /// The number of responders that were notified and threw.
    var failed = 0
    /// The number of late modules; the event waits for them.
    var late = 0
    /// The number of modules that became late in this very event.
    var lateInIt = 0
    /// The replies so far as one, where the event wants one.
    var fetch: FetchResult?
    /// The module that claimed the event.
    var claimedBy: Cell?
    /// The module at which a search for who claims the event ended; nil where it went round.
    var lastAsked: Cell?

    /// One that was told became late in it.
    ///
    /// - Returns: Whether the others are to be asked too.
    mutating func toldLate(_ cell: Cell?, of kind: EventKind) -> FanStep {
        late += 1
        lateInIt += 1
        return takeLate(from: cell, of: kind)
    }

    /// Counts a late module: as a failed fetch, and as the end of a search, since going on could act twice.
    mutating func takeLate(from cell: Cell?, of kind: EventKind) -> FanStep {
        if kind.isClaimed {
            lastAsked = cell
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
            lastAsked = cell
            return .end
        }
    }
}

/// Takes an event to the members of one module, on the lane.
struct DirectCourier: Courier {
    let members: [Member]
    let cell: Cell
    /// Whether they were taken out of the center, and hear this all the same.
    let areLeaving: Bool
    let gate: Gate
    let thread: LaneThread
    let onFailure: (any Error) -> Void
    /// Whether the lane was lost on the way.
    private(set) var isLost = false

    init(
        members: [Member], cell: Cell, areLeaving: Bool, gate: Gate, thread: LaneThread,
        onFailure: @escaping (any Error) -> Void
    ) {
        self.members = members
        self.cell = cell
        self.areLeaving = areLeaving
        self.gate = gate
        self.thread = thread
        self.onFailure = onFailure
    }

    mutating func tell<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Void
    ) {
        let list = ResponderList<Responder>()
        for member in members { list.insert(member) }
        for index in list.entries.indices
        where areLeaving || !list.entries[index].member.isRemoved {
            // The rest of a module that held the lane up is told on its own thread.
            if isLost {
                do {
                    try describing { try body(list.entries, index) }
                } catch {
                    gate.reportLate(cell, error)
                }
                continue
            }
            let outcome = gate.call(cell, on: thread) {
                try describing { try body(list.entries, index) }
            }
            switch outcome {
            case .returned, .tooDeep: break
            case .threw(let error): onFailure(error)
            case .lost, .threwLate: isLost = true
            }
        }
    }

    /// Nobody asks for the answer of one.
    mutating func ask<Responder>(
        _ kind: Responder.Type,
        _ body: (ResponderList<Responder>.Entries, Int) throws -> EventReply
    ) {
        tell(kind) { entries, index in _ = try body(entries, index) }
    }
}

extension EventKind {
    /// Whether the first responder that claims the event ends the search.
    var isClaimed: Bool { self == .openURL || self == .userActivity || self == .shortcut }

    /// Whether the event wants the responders' replies put together into one.
    var wantsFetchResult: Bool { self == .push }
}

import AppService

/// Access to a running app for code in the same process that looks into it, such as a test.
extension AppHost {
    /// Runs code inside a module: on the lane, through the gate.
    ///
    /// Code for an overdue module runs when that returns.
    ///
    /// - Parameters:
    ///   - find: Returns whether a module is the one; called for each module that was created, in order.
    ///   - body: Receives the module and its context, which must not leave it. It is called on the lane, and
    ///     must not share mutable state with the caller.
    ///   - completion: Called once, on any thread, with the result of `body`; with ``ModuleNotRunning`` if no
    ///     module is the one; with ``RouteError/stopped`` or ``ModuleGone`` if the module ends before.
    package func enter<Value: Sendable>(
        where find: @escaping @Sendable (ModuleID, any Module) -> Bool,
        _ body: @escaping (any Module, ModuleContext) throws -> Value,
        completion: @escaping CompletionHandler<Value>
    ) {
        let pending = CallCompletion(completion)
        let body = LaneConfined(body)
        onLane { app, _ in
            for record in app.records where !record.isFailed {
                guard let module = record.module, let context = record.context,
                    find(record.id, module)
                else { continue }
                let confined = LaneConfined((module, context))
                let work: @Sendable () -> Void = {
                    let (module, context) = confined.openInModule()
                    pending.finish(Result { try body.openInModule()(module, context) })
                }
                let job = ModuleJob(gate: app.gate, slot: record.slot, body: work) { result in
                    if case .failure(let error) = result { pending.finish(.failure(error)) }
                }
                return app.gate.lane.prepend([job])
            }
            pending.finish(.failure(ModuleNotRunning(modules: app.moduleStatuses)))
        }
    }

    /// Runs host code that uses the app's center and services, as their caller.
    ///
    /// - Parameters:
    ///   - body: Uses them. It is called on the lane, and must not share mutable state with the caller.
    ///   - completion: Called once, with the result; with ``RouteError/stopped`` if the app ends before.
    package func use<Value: Sendable>(
        _ body: @escaping (CommunicationCenter, ServiceRegistry) throws -> Value,
        completion: @escaping CompletionHandler<Value>
    ) {
        let pending = CallCompletion(completion)
        let confined = LaneConfined(body)
        onLane { app, thread in
            pending.finish(Result { try confined.open(on: thread)(app.center, app.services) })
        }
    }

    /// Delivers an event that is not durable, and reports when the lane has passed it.
    ///
    /// - Parameters:
    ///   - event: The event; not `terminate`.
    ///   - completion: Called once, with the state in which the event has no meaning, or nil; with
    ///     ``RouteError/stopped`` if the app ends before.
    package func deliver(
        _ event: LifecycleEvent, completion: @escaping CompletionHandler<LifecycleState?>
    ) {
        let ignored = Guarded<LifecycleState?>(nil)
        if let change = event.kind.stateChange {
            enqueue(
                .change(change, origin: event.origin) { state in ignored.withLock { $0 = state } })
        } else {
            enqueue(.event(event))
        }
        settle { completion($0.map { ignored.withLock { $0 } }) }
    }

    /// Delivers a durable event through the inbox, and reports the result of its delivery.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - payload: Its payload.
    ///   - id: Its id; nil for none.
    ///   - origin: The origin of the request. The modules receive the event from the inbox.
    ///   - completion: Called once, with the position and the result; with ``RouteError/stopped`` if the app
    ///     ends before, the host has no inbox, or the event is not durable.
    /// - Throws: ``RPCError`` for an event that is not valid.
    package func deliverDurably(
        _ kind: EventKind, payload: JSONValue?, id: String?, origin: Origin,
        completion:
            @escaping CompletionHandler<(EventPosition?, InboxSubmission.DeliveryResult)>
    ) throws {
        let request = try SendRequest(kind.rawValue, payload: payload, id: id, from: origin)
        let pending = CallCompletion(completion)
        guard let inbox, let record = request.record else { return }
        let place = Guarded<EventPosition?>(nil)
        inbox.submit(
            InboxSubmission(line: record.line, id: id, record: record) { acceptance in
                switch acceptance {
                case .accepted(let position): place.withLock { $0 = position }
                case .duplicate: pending.finish(.success((nil, .duplicate)))
                case .failed(let error): pending.finish(.failure(error))
                }
            } onDelivery: {
                pending.finish(.success((place.withLock { $0 }, $0)))
            })
    }

    /// Whether the host has an inbox for durable events.
    package var hasInbox: Bool { inbox != nil }

    /// Reports when everything that was accepted before has been worked off, from READY on, and modules have answered it or
    /// are unresponsive.
    package func settle(_ completion: @escaping CompletionHandler<Void>) {
        let pending = CallCompletion(completion)
        @Sendable func finish(_ app: App) {
            app.whenAnswered(app.records, within: .seconds(1 << 30)) { _ in
                pending.finish(.success(()))
            }
        }
        onLane { [app] current, _ in
            let work = LaneWork { thread in finish(app.open(on: thread)) }
            if !current.isHeld(work) { finish(current) }
        }
    }

    /// Reports the status of each enabled module, in slatefile order.
    package func moduleStatuses(_ completion: @escaping CompletionHandler<[ModuleStatus]>) {
        let pending = CallCompletion(completion)
        gate.lane.enqueueFirst(
            LaneWork { [app] thread in
                pending.finish(.success(app.open(on: thread).moduleStatuses))
            } onAbandon: {
                pending.finish(.failure(RouteError.stopped))
            })
    }

    /// Kills the process of a module, which is restarted as after any death.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - completion: Receives whether the module has a process.
    package func killProcess(
        of module: ModuleID, completion: @escaping CompletionHandler<Bool>
    ) {
        let pending = CallCompletion(completion)
        onLane { app, _ in
            let isolated = app.records.first { $0.id == module }?.isolated
            isolated?.kill()
            pending.finish(.success(isolated != nil))
        }
    }

    /// The metrics of the host, for any thread.
    public var currentMetrics: HostMetrics { metrics.withLock { $0 } }

    /// The module whose code runs on the lane at this moment; nil where none does.
    package var moduleAtWork: ModuleID? { gate.lane.slot(gate.lane.ownership.slot)?.id }

    /// The longest time that one event may keep a module, by the slatefile.
    package func deadline(of module: ModuleID) -> Duration {
        let slatefile = slatefile
        let own = slatefile.modules.first { $0.id == module }?.deadline
        return own ?? slatefile.deadlines.event
    }
}

/// The error of access to a module that does not run in a host.
package struct ModuleNotRunning: Error {
    /// The modules of the host.
    package let modules: [ModuleStatus]
}

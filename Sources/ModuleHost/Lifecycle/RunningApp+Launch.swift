import AppService

/// From the slatefile to READY, in steps that each are a job of the lane.
extension RunningApp {
    /// Makes every module, in order; then the start-up tasks that cannot wait.
    func launch(in host: Host) {
        self.host = host
        startedAt = time.now()
        records = slatefile.modules.filter(\.isEnabled).enumerated().map { index, entry in
            ModuleRecord(
                entry: entry,
                cell: Cell(number: UInt16(index + 1), id: entry.id, terms: Cell.Terms(of: entry)))
        }
        figures.modulesRunning = records.count
        tellHealth()
        do {
            calls = try CallDispatcher(
                RouteTable(of: slatefile), records: records, tokens: host.tokens, gate: gate,
                center: center)
            calls?.parent = host.parent
            services.isAlone = host.parent != nil
        } catch {
            return host.fail("the routes make no sense: \(error)")
        }
        for index in records.indices {
            gate.lane.register(records[index].cell)
            host.onLane(limit: .launch) { app, thread in
                app.make(app.records[index], in: host, on: thread)
            }
        }
        host.onLane { app, _ in app.runStartupTasks(in: host) }
    }

    private func make(_ record: ModuleRecord, in host: Host, on thread: LaneThread) {
        guard ending == nil, !host.isStopping, let calls else { return }
        let context = context(
            of: record, appConfig: slatefile.config, calls: calls, host: HostServices(of: host))
        make(record, with: context, on: thread) { error in
            markFailed(record, "init", error)
            letGo(of: record.cell)
        }
    }

    /// What a module is given.
    func context(
        of record: ModuleRecord, appConfig: JSONValue?, calls: CallDispatcher, host: HostServices
    ) -> ModuleContext {
        ModuleContext(
            id: record.id, cell: record.cell, app: slatefile.app, config: record.entry.config,
            appConfig: appConfig, log: log.of(module: record.id.text),
            stateDirectory: host.stateDirectory, center: center, services: services,
            calls: CallLine(calls, for: record.id, at: record.cell), host: host)
    }

    /// Makes a module.
    ///
    /// - Parameters:
    ///   - record: The module's.
    ///   - context: What the module is given.
    ///   - thread: The calling thread, which owns the lane.
    ///   - failed: Told what it threw. Where it takes too long, whoever goes on says so.
    func make(
        _ record: ModuleRecord, with context: ModuleContext, on thread: LaneThread,
        failed: (any Error) -> Void
    ) {
        let began = time.now()
        let processes = host?.processes ?? ProcessSettings()
        gate.lane.box?.setActivity(.making)
        let outcome = gate.call(record.cell, on: thread) { () throws -> any Module in
            try describing { try record.entry.make(with: context, processes) }
        }
        // Who lost the lane has no say any more.
        if gate.lane.owns(thread) { gate.lane.box?.setActivity(nil) }
        switch outcome {
        case .returned(let module):
            record.module = module
            record.context = context
            record.status = .made
            center.insert(module, in: record.cell, isModule: true)
            log.of(module: record.id.text).write(
                .debug, "made", duration: began.duration(to: time.now()))
        case .threw(let error): failed(error)
        // A job begins at depth 0.
        case .tooDeep: break
        // It took too long; whoever goes on says so. What it made is let go of here.
        case .lost, .threwLate: break
        }
    }

    private func runStartupTasks(in host: Host) {
        guard ending == nil, !host.isStopping else { return }
        do throws(StartupError) {
            try host.startup.admit(.high)
        } catch {
            return host.fail("start-up tasks make no sense: \(error)")
        }
        host.startup.whenDone(.high) {
            if let parent = host.parent { return host.onLane { app, _ in parent.made(app) } }
            host.onLane(limit: .launch) { app, _ in app.deliverLaunch(in: host) }
        }
    }

    private func deliverLaunch(in host: Host) {
        guard ending == nil else { return }
        try? host.startup.admit(.default)
        deliverNow(.own(.launch(Launch(origin: .host, app: slatefile.app))), limit: .launch)
    }

    /// Every module that is left counts as launched, whether it had work to do or not.
    func launched() {
        for record in records where !record.isFailed {
            guard case .made = record.status else { continue }
            if let failed = firstFailedRequired, record.cell.rank > failed { break }
            record.status = .launched
        }
    }

    /// The rank of the first required module that failed: those after it were not told to launch.
    var firstFailedRequired: UInt16? {
        records.first { $0.entry.isRequired && $0.isFailed }?.cell.rank
    }

    func openRoot(in host: Host) {
        guard ending == nil, firstFailedRequired == nil else { return }
        _ = state.apply(.launched)
        figures.state = state
        host.onLane(limit: .launch) { app, thread in app.askForRoot(on: thread) }
        // A job of its own: a root that takes too long keeps nobody from becoming active.
        host.onLane { app, _ in app.deliverNow(.ownChange(.activate, origin: .host)) }
    }

    private func askForRoot(on thread: LaneThread) {
        guard ending == nil, let record = records.first(where: \.entry.isMain), !record.isFailed,
            let main = record.module as? any RootProvider
        else { return }
        guard gate.lane.admit(record.cell, at: nil) == .go else {
            return log.of(module: record.id.text).warning("no root: the module is late")
        }
        switch gate.call(record.cell, on: thread, { try describing { try main.root } }) {
        case .returned(let root?):
            do throws(URLFault) {
                deliverNow(.own(try .openURL(root, origin: .local(record.id))))
            } catch {
                figures.failures += 1
                log.of(module: record.id.text).error("no root: \(error)")
            }
        case .returned(nil), .tooDeep, .lost, .threwLate: break
        case .threw(let error):
            figures.failures += 1
            log.of(module: record.id.text).error("no root: \(error)")
        }
    }

    func becomeReady(in host: Host) {
        guard ending == nil, !isReady else { return }
        isReady = true
        let after = startedAt.duration(to: time.now())
        figures.readyAfter = after
        tellHealth()
        let running = figures.modulesRunning
        log.write(.notice, "ready: \(running) modules", duration: after)
        host.observer.onReady(running, after)
        gate.lane.prepend(held)
        held = []
        beginNextReload()
        inbox?.open(for: host)
        host.onLaneWhenIdle { app in
            if app.ending == nil { try? host.startup.admit(.low) }
        }
    }
}

extension Slatefile.Module {
    /// Makes the module of this entry.
    fileprivate func make(
        with context: ModuleContext, _ processes: ProcessSettings
    ) throws -> any ModuleHost.Module {
        switch implementation {
        case .entry(let name) where isolation != .process:
            return try EntryType(name).type.init(context: context)
        case .command(let command):
            return try IsolatedModule(
                context: context,
                terms: IsolationTerms(
                    command, naming: environment, in: processes, for: context.id))
        case .entry(let name):
            return try IsolatedModule(
                context: context,
                terms: IsolationTerms(
                    entry: name, naming: environment, in: processes, for: context.id))
        }
    }
}

extension Cell.Terms {
    /// The terms that the slatefile gives a module.
    init(of entry: Slatefile.Module) {
        self.init(
            deadline: entry.deadline, killAfter: entry.killAfter, backlog: entry.backlog)
    }
}

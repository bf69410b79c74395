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
        figures.withLock { $0.modulesRunning = records.count }
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
        starts = processStarts(of: records) { context(of: $0, in: host) }
        for index in records.indices {
            gate.lane.register(records[index].cell)
            host.onLane(limit: .launch) { app, thread in
                app.make(app.records[index], in: host, on: thread)
            }
        }
        host.onLane { app, _ in app.runStartupTasks(in: host) }
    }

    private func make(_ record: ModuleRecord, in host: Host, on thread: LaneThread) {
        guard ending == nil, !host.isStopping else { return }
        let start = starts?[record.id]
        guard let context = start?.context.value ?? context(of: record, in: host) else { return }
        make(record, with: context, start, on: thread) { error in
            markFailed(record, "init", error)
            letGo(of: record.cell)
        }
    }

    private func context(of record: ModuleRecord, in host: Host) -> ModuleContext? {
        calls.map { calls in
            context(
                of: record, appConfig: slatefile.config, calls: calls, host: HostServices(of: host))
        }
    }

    /// Has the processes of modules started that are about to be made.
    ///
    /// - Parameters:
    ///   - records: The modules, in order; those of this process among them.
    ///   - context: What one of them is given.
    /// - Returns: The processes, for whoever makes the modules.
    func processStarts(
        of records: [ModuleRecord], _ context: (ModuleRecord) -> ModuleContext?
    ) -> ProcessStarts {
        let processes = host?.processes ?? ProcessSettings()
        let starts = ProcessStarts(
            records.compactMap { record in
                guard let terms = record.entry.terms(in: processes), let context = context(record)
                else { return nil }
                return ProcessStart(context, terms)
            })
        starts.begin()
        return starts
    }

    /// Creates the context of a module.
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
    ///   - start: Its process, if it has one.
    ///   - thread: The calling thread, which owns the lane.
    ///   - failed: Told what it threw. Where it takes too long, whoever goes on says so.
    func make(
        _ record: ModuleRecord, with context: ModuleContext, _ start: ProcessStart?,
        on thread: LaneThread, failed: (any Error) -> Void
    ) {
        let began = time.now()
        gate.lane.box?.setActivity(.making)
        let outcome = gate.call(record.cell, on: thread) { () throws -> any Module in
            try describing { try record.entry.make(with: context, start) }
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
        // Every module has taken its own, unless the app stops.
        starts?.cancel()
        starts = nil
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
        let end = firstFailedRequired ?? .max
        for record in records where !record.isFailed {
            guard case .made = record.status else { continue }
            if record.cell.rank > end { break }
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
        figures.withLock { $0.state = state }
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
                figures.withLock { $0.failures += 1 }
                log.of(module: record.id.text).error("no root: \(error)")
            }
        case .returned(nil), .tooDeep, .lost, .threwLate: break
        case .threw(let error):
            figures.withLock { $0.failures += 1 }
            log.of(module: record.id.text).error("no root: \(error)")
        }
    }

    func becomeReady(in host: Host) {
        guard ending == nil, !isReady else { return }
        isReady = true
        let after = startedAt.duration(to: time.now())
        figures.withLock { $0.readyAfter = after }
        tellHealth()
        let (running, total) = (figures.withLock { $0.modulesRunning }, records.count)
        let count = running == total ? "\(total)" : "\(running) of \(total)"
        log.write(.notice, "ready: \(count) \(total == 1 ? "module" : "modules")", duration: after)
        host.observer.onReady(running, total, after)
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
    /// Returns the launch settings of its process; nil for a module of this process.
    fileprivate func terms(in processes: ProcessSettings) -> IsolationTerms? {
        switch implementation {
        case .entry where isolation != .process: nil
        case .entry(let name):
            IsolationTerms(entry: name, naming: environment, in: processes, for: id)
        case .command(let words):
            IsolationTerms(words, naming: environment, in: processes, for: id)
        }
    }

    /// Makes the module of this entry.
    fileprivate func make(
        with context: ModuleContext, _ start: ProcessStart?
    ) throws -> any ModuleHost.Module {
        if let start { return try IsolatedModule(start) }
        guard case .entry(let name) = implementation else { throw IsolationError.gone }
        return try EntryType(name).type.init(context: context)
    }
}

extension Cell.Terms {
    /// The terms that the slatefile gives a module.
    init(of entry: Slatefile.Module) {
        self.init(
            deadline: entry.deadline, killAfter: entry.killAfter, backlog: entry.backlog,
            permissions: entry.permissions)
    }
}

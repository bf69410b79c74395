import AppService

/// Creating modules, for a launch or a reload.
extension App {
    /// Returns the starts of the processes of modules that are about to be created; none is begun.
    ///
    /// - Parameters:
    ///   - records: The modules, in order; those of this process among them.
    ///   - context: Returns the context of one of them.
    /// - Returns: The processes, for the caller that makes the modules.
    func processStarts(
        of records: [ModuleRecord], _ context: (ModuleRecord) -> ModuleContext?
    ) -> ProcessStarts {
        let processes = host?.processes ?? ProcessSettings()
        return ProcessStarts(
            records.compactMap { record in
                guard let spec = record.entry.launchSpec(in: processes),
                    let context = context(record)
                else { return nil }
                return ProcessStart(context, spec)
            })
    }

    /// Creates the context of a module.
    func context(
        of record: ModuleRecord, appConfig: JSONValue?, calls: CallDispatcher, host: HostServices
    ) -> ModuleContext {
        ModuleContext(
            id: record.id, slot: record.slot, app: slatefile.app, config: record.entry.config,
            appConfig: appConfig, log: log.of(module: record.id.text),
            stateDirectory: host.stateDirectory, center: center, services: services,
            calls: CallChannel(calls, for: record.id, at: record.slot), host: host)
    }

    /// Creates a module.
    ///
    /// - Parameters:
    ///   - record: The record of the module.
    ///   - context: The context of the module.
    ///   - start: The start of its process, if it has one.
    ///   - thread: The calling thread, which owns the lane.
    ///   - isNested: Whether another module is being called, for which it is made.
    ///   - failed: Called with the error that it threw, in the host; if it takes too long, the thread that takes the
    ///     lane reports that.
    func make(
        _ record: ModuleRecord, with context: ModuleContext, _ start: ProcessStart?,
        on thread: LaneThread, isNested: Bool = false, failed: (any Error) -> Void
    ) {
        let began = time.now()
        _ = gate.lane.asHost(on: thread) { apply(.make, to: record) }
        if role.upstream != nil {
            gate.lane.asHost(on: thread) { provideFacades(to: record, context) }
        }
        if !isNested { gate.lane.box?.setActivity(.making) }
        var isolated: IsolatedModule?
        let outcome = gate.call(record.slot, on: thread) { () throws -> any Module in
            try describing {
                guard let start else { return try record.entry.make(with: context) }
                let module = try IsolatedModule(start)
                isolated = module
                return module
            }
        }
        // A thread that lost the lane must not change its state.
        if !isNested, gate.lane.owns(thread) { gate.lane.box?.setActivity(nil) }
        switch outcome {
        case .returned(let module):
            let isOurs: Void? = gate.lane.asHost(on: thread) {
                (record.module, record.isolated) = (module, isolated)
                record.context = context
                apply(.made, to: record)
                record.taker = isolated ?? OpenHandlers(of: module, context)
                center.insert(module, in: record.slot, isModule: true, taker: record.taker)
                provideFacades(of: module, in: record, context)
                log.of(module: record.id.text).write(
                    .debug, "made", duration: began.duration(to: time.now()))
            }
            if isOurs == nil { isolated?.end() }
        case .threw(let error): _ = gate.lane.asHost(on: thread) { failed(error) }
        // Only where it is made for a call of another module: a job begins at depth 0.
        case .tooDeep:
            _ = gate.lane.asHost(on: thread) { failed(RouteError.tooDeep([])) }
        // It took too long, which the thread that took the lane reports. The new module is ended here.
        case .lost, .threwOverdue: isolated?.end()
        }
    }

    /// Releases the members and services of a module that failed in `init`: they end in code of the module.
    func release(of slot: ModuleSlot) {
        let rest = LaneConfined<[AnyObject]>(
            center.takeAll(of: slot) + services.takeAll(of: slot))
        gate.lane.enqueue(ModuleJob(gate: gate, slot: slot) { _ = rest })
    }
}

extension Slatefile.Module {
    /// Returns the launch settings of the module's process; nil for a module of this process.
    fileprivate func launchSpec(in processes: ProcessSettings) -> LaunchSpec? {
        var spec = declaredSpec(in: processes)
        if ends { spec?.limits.letEnd() }
        return spec
    }

    private func declaredSpec(in processes: ProcessSettings) -> LaunchSpec? {
        switch implementation {
        case .entry where isolation != .process: nil
        case .entry(let name):
            LaunchSpec(
                entry: name, using: facadeProviders, naming: environment, in: processes, for: id)
        case .command(let words):
            LaunchSpec(words, naming: environment, in: processes, for: id)
        }
    }

    /// Creates the module of this entry, in this process.
    fileprivate func make(with context: ModuleContext) throws -> any ModuleHostCore.Module {
        guard case .entry(let name) = implementation else { throw IsolationError.gone }
        let type = try EntryType(name).type
        if let windowed = type as? any WindowedModule.Type {
            context.slot.window = try windowed.checkedWindow
        }
        return try type.init(context: context)
    }
}

extension ModuleSlot.Limits {
    /// Creates the limits that the slatefile sets for a module.
    init(of entry: Slatefile.Module) {
        self.init(
            deadline: entry.deadline, killAfter: entry.killAfter, backlog: entry.backlog,
            permissions: entry.permissions, hasProcess: entry.hasProcess, keep: entry.keep)
    }
}

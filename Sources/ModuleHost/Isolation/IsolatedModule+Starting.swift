import AppService

/// Starting the module's process.
extension IsolatedModule {
    static func observer(
        _ reference: IsolatedReference, _ context: ModuleContext, _ traces: DeliveredTraces
    ) -> ModuleProcess.Observer {
        let reference = LaneConfined(reference)
        let sends = ModuleSends(of: context.id, traces, context.host.services)
        return ModuleProcess.Observer(
            onLine: { [log = context.log] level, text in log.write(level, text) },
            onMail: { [services = context.host.services, slot = context.slot] process in
                enter(reference, services, slot, process)
            },
            onSend: sends.take, isLogged: { [log = context.log] in log.isEnabled($0) })
    }

    /// Makes the module handle unrequested messages of its process.
    private static func enter(
        _ reference: LaneConfined<IsolatedReference>, _ services: HostServices,
        _ slot: ModuleSlot,
        _ process: ModuleProcess
    ) {
        services.enter(slot) {
            guard let module = reference.openInModule().module, module.process === process else {
                return
            }
            // Other modules have their turn before the rest.
            if try module.takeMail() { enter(reference, services, slot, process) }
        } completion: { _ in
        }
    }

    /// Starts a process and requests its declaration.
    ///
    /// - Parameters:
    ///   - introduction: The facts that it receives first.
    ///   - said: The declaration of the process before, which this one has to repeat.
    ///   - note: Receives the process before it has sent anything.
    /// - Throws: ``IsolationError`` where it cannot be started, or ends before it is ready.
    static func start(
        _ spec: LaunchSpec, _ introduction: ModuleIntroduction,
        _ services: HostServices, _ observer: ModuleProcess.Observer,
        saidBefore said: ModuleDeclaration?, noting note: (ModuleProcess) -> Void = { _ in }
    ) throws(IsolationError) -> ProcessStart.Started {
        let process: ModuleProcess
        // The error number of the start would not tell the program from its folder.
        if let name = spec.command.first,
            let problem = lookForProgram(
                name, in: spec.folder, path: spec.environment["PATH"])
        {
            throw .noProgram(name, problem, folder: spec.folder)
        }
        process = try spec.processes.start { () throws(IsolationError) in
            do throws(SystemError) {
                return try .start(
                    spec.command, environment: spec.environment, in: spec.folder,
                    time: services.time, limits: spec.limits, notifying: observer)
            } catch {
                throw .start(spec.command, error)
            }
        }
        note(process)
        do throws(ProcessExit) {
            // A program that ends need not answer at all.
            let limit = spec.limits.mayEnd ? spec.limits.closing : services.deadlines.launch
            let declaration = try process.initialize(
                introduction, within: limit, saidBefore: said)
            return (process, declaration)
        } catch {
            // Python leaves a part of a file there if the disk is full, and fails whenever it reads that. The next attempt
            // compiles the program again.
            if let cache = spec.pythonCache,
                error.lastLines.contains(where: { $0.contains(bytesOf: "marshal data") })
            {
                try? removeTree(cache)
            }
            throw spec.limits.mayEnd ? .ended(error) : .notReady(error)
        }
    }
}

/// The module, for objects that are created before it.
///
/// Belongs to the module.
final class IsolatedReference {
    weak var module: IsolatedModule?
}

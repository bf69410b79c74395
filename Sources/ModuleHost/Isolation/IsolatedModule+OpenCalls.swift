import AppService
import Dispatch
import Synchronization

/// Calls that no thread waits for: those from outside the app, of asynchronous code, with a completion, and of other
/// processes.
///
/// So a module that takes long to answer holds no lane. Its process has the deadline of an event for each call. Where it does
/// not answer in time, its calls fail and the module is unresponsive: from then on its own thread waits for the answer, and
/// kills the process at the limit.
extension IsolatedModule {
    /// Calls a route that answers at once, and does not wait for that.
    ///
    /// A process that ends before it answers fails the call: it is not known whether the module has acted.
    func beginCall(
        _ route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall,
        _ late: any LateCall
    ) throws {
        let (process, time) = (process, context.host.services.time)
        let number = process.nextNumber()
        // Before it is sent: the answer may come at any time.
        let isUnwatched = process.calls.withLock { $0.add(number, late, at: time.now()) }
        if isUnwatched { callWatch.look(at: process) }
        do {
            try send(route, parameters, call, as: number) { result in
                process.calls.withLock { $0.remove(number, at: time.now()) }?.answer(result)
            }
        } catch {
            _ = process.calls.withLock { $0.remove(number, at: time.now()) }
            throw error
        }
        // No thread waits for the answer: the one that reads all processes reads it.
        process.output.rest()
    }

    /// Waits until the process has answered its first call, since that takes too long; the calls fail.
    ///
    /// The lane goes on without the module. A process that does not answer in time is killed, and started again.
    fileprivate func awaitLateCall(of process: ModuleProcess) throws {
        // Another process has taken its place, and its calls have failed.
        guard process === self.process, !isGone else { return }
        let deadline = callWatch.deadline
        let now = context.host.services.time.now()
        let late = process.calls.withLock { calls -> (number: Int, callers: [any LateCall])? in
            guard let first = calls.first,
                calls.look(at: now, within: deadline, isWaiting: process.isWaiting) == .late
            else { return nil }
            return (first, calls.removeAll())
        }
        // It has answered meanwhile; another call may be the first.
        guard let late else { return callWatch.look(at: process) }
        context.host.services.loseLane()
        for (index, caller) in late.callers.enumerated() {
            let error = index == 0 ? RouteError.tookTooLong(context.id) : .overdue(context.id)
            caller.answer(.failure(error))
        }
        let limit = callLimit
        let end: ProcessExit
        do throws(ProcessExit) {
            let rest = max(limit - deadline, .milliseconds(100))
            guard try !process.awaitAnswer(to: late.number, until: .after(rest), serving: serve)
            else { return }
            process.kill(because: .silence("answer 'call'", limit))
            _ = try process.awaitAnswer(to: late.number, until: .distantFuture, serving: serve)
            return
        } catch {
            end = error
        }
        // An event that it has not answered brings the end, too, and a request of it may have done so.
        if !isGone, openEvents.isEmpty, process === self.process {
            try restartProcess(after: end, in: nil)
        }
    }
}

/// The watch over the time that a module's processes take for their calls.
final class CallWatch: Sendable {
    private let services: HostServices
    private let slot: ModuleSlot
    private let module: LaneConfined<IsolatedReference>

    init(_ services: HostServices, _ slot: ModuleSlot, _ module: LaneConfined<IsolatedReference>) {
        self.services = services
        self.slot = slot
        self.module = module
    }

    /// The time that a call may take before the module is unresponsive.
    var deadline: Duration { slot.deadline ?? services.deadlines.event }

    /// Looks whether a call takes too long, and looks again when one may.
    func look(at process: ModuleProcess) {
        let now = services.time.now()
        let isWaiting = process.isWaiting
        switch process.calls.withLock({
            $0.look(at: now, within: deadline, isWaiting: isWaiting)
        }) {
        case .idle: break
        case .due(let end):
            services.time.schedule(at: end) { [self, weak process] in
                if let process { look(at: process) }
            }
        case .late:
            services.enter(slot) { [module] in
                try module.openInModule().module?.awaitLateCall(of: process)
            } completion: { _ in
            }
        }
    }
}

extension ModuleProcess {
    /// Whether the process waits for the answer to a call of its own, or has an event to answer, which has a time of its own.
    fileprivate var isWaiting: Bool {
        pendingCalls.load(ordering: .relaxed) > 0 || hasEvent.load(ordering: .relaxed)
    }

    /// Waits until the process has answered a request that no thread has waited for; handles its requests meanwhile.
    ///
    /// In the module.
    ///
    /// - Parameter deadline: The end of the wait.
    /// - Returns: Whether it has answered.
    /// - Throws: ``ProcessExit`` where the process has ended.
    func awaitAnswer(
        to number: Int, until deadline: DispatchTime, serving serve: (RPCRequest, RPCID?) -> Void
    ) throws(ProcessExit) -> Bool {
        queue.beginExchange()
        defer { queue.endExchange() }
        output.hold()
        defer { output.release() }
        while true {
            switch next(until: deadline, unlessAnswered: number) {
            case .message(.request(let request, let id)):
                output.release()
                serve(request, id)
                output.hold()
            case .message(.answer): break
            case .end(let end): throw end
            case .nothing: return !queue.isOpen(number)
            }
        }
    }
}

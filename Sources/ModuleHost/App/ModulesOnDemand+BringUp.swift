import AppService

/// Bringing up a module that is not made, after those that it needs.
extension ModulesOnDemand {
    /// Brings up a module for a job that can wait.
    ///
    /// - Returns: The module whose process is awaited; nil where none is, also where the module cannot be made.
    func begin(_ place: Int, isAwaited: Bool, on thread: LaneThread) -> ModuleID? {
        do {
            try bringUp(place, isAwaited: isAwaited, canWait: true, on: thread)
        } catch let error as ModuleIsStarting {
            return error.module
        } catch {}
        return nil
    }

    /// Brings up a module that is not made, after those that it needs.
    ///
    /// - Parameters:
    ///   - place: Its place among the enabled modules.
    ///   - isAwaited: As for ``App/makeOnDemand(at:isAwaited:canWait:on:)``; the modules that it needs count, too.
    ///   - canWait: Whether the caller can try again when a process has declared itself.
    ///   - thread: The calling thread, which owns the lane.
    /// - Throws: ``ModuleIsStarting``; ``ModuleHasFailed``; ``RouteError`` where it is not made for another reason.
    func bringUp(
        _ place: Int, isAwaited: Bool = false, canWait: Bool, on thread: LaneThread
    ) throws {
        guard let order = app.gate.lane.asHost(on: thread, { UnmadeNeeds(of: place, in: self) })
        else { throw LaneLost() }
        for next in order.places {
            do {
                let id = try app.makeOnDemand(
                    at: next, isAwaited: isAwaited, canWait: canWait, on: thread)
                let failure = try app.asHost(on: thread, for: id) {
                    app.record(at: next).flatMap { record in
                        record.isFailed
                            ? ModuleHasFailed(module: record.id, reason: record.unavailability)
                            : nil
                    }
                }
                if let failure { throw failure }
            } catch let error where !(error is ModuleIsStarting) {
                guard
                    let error = app.gate.lane.asHost(
                        on: thread, { fail(order.chain(from: next), error, isAwaited) })
                else { throw LaneLost() }
                throw error
            }
        }
    }

    /// Passes an error of a module on to those that are made for one another.
    ///
    /// - Returns: The error of the last one.
    private func fail(_ places: [Int], _ error: any Error, _ isAwaited: Bool) -> any Error {
        var error = error
        for (index, place) in places.enumerated().dropFirst() {
            let id = coming(at: place).id
            // The whole chain of reasons would grow with each of them.
            let isLong = index > 8
            switch error {
            case let failure as ModuleHasFailed:
                if isAwaited { app.keepFailed(at: place) }
                let reason = "it needs \(failure.module): \(failure.reason)"
                error = ModuleHasFailed(module: id, reason: isLong ? failure.reason : reason)
            case RouteError.unavailable(let module, let reason):
                error = RouteError.unavailable(
                    id, because: isLong ? reason : "it needs \(module): \(reason)")
            default: return error
            }
        }
        return error
    }

    /// The modules that are not made and that one needs, also for one another, and it: each after those that it needs.
    private struct UnmadeNeeds {
        private(set) var places: [Int] = []
        /// The module for which each was found first.
        private var wanting: [Int: Int] = [:]

        init(of place: Int, in modules: ModulesOnDemand) {
            guard !modules.coming(at: place).needs.isEmpty else {
                places = [place]
                return
            }
            var path = [(place: place, next: 0)]
            var known: Set<Int> = [place]
            while let (place, next) = path.last {
                let needs = modules.coming(at: place).needs
                guard next < needs.count else {
                    places.append(place)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                if let need = modules.place(ofComing: needs[next]), known.insert(need).inserted {
                    wanting[need] = place
                    path.append((need, 0))
                }
            }
        }

        /// Returns a module, and those that wait for it, up to the first one.
        func chain(from place: Int) -> [Int] {
            var chain = [place]
            while let next = wanting[chain[chain.count - 1]] { chain.append(next) }
            return chain
        }
    }
}

/// The answer of one member to a message that asks all.
public struct Answer<Value: Sendable>: Sendable {
    /// The module of the member; nil in a center of one's own.
    public let module: ModuleID?
    /// The value, or the reason why there is none: the error that the member threw, or
    /// ``RouteError/overdue(_:)`` where its module does not respond and was not asked.
    public let result: Result<Value, any Error>

    init(_ module: ModuleID?, _ result: Result<Value, any Error>) {
        (self.module, self.result) = (module, result)
    }

    /// The value; nil where there is none.
    public var value: Value? { try? result.get() }
}

/// Asking all members.
extension CommunicationCenter {
    /// Calls every member that conforms to `Responder`, in order, and returns what each answers.
    ///
    /// ```swift
    /// let answers = context.center.send(to: (any SearchResponder).self, as: [String].self) {
    ///     try $0.find(text)
    /// }
    /// for answer in answers { results += answer.value ?? [] }
    /// ```
    ///
    /// - Order: As for a message without answers; the answers are in the order of the members.
    /// - Failure: An error of a member is its answer, and is reported as well; the other members are still
    ///   called. Where modules already call each other 64 deep no member is called, and each answer is
    ///   ``RouteError/tooDeep(_:)``.
    /// - Parameters:
    ///   - responder: The protocol, as `(any SearchResponder).self`.
    ///   - answer: The type of an answer.
    ///   - body: Asks one member, and returns its answer.
    /// - Returns: An answer for each member; none once the host has stopped.
    @discardableResult
    public func send<Responder, Value: Sendable>(
        to responder: Responder.Type, as answer: Value.Type,
        _ body: @Sendable (Responder) throws -> Value
    ) -> [Answer<Value>] {
        guard let gate else { return gatherFromOwn(list(of: responder), body) }
        guard let thread = gate.lane.hold else {
            return gate.lane.serve { gather(nil, through: gate, on: $0, body) } ?? []
        }
        return gather(nil, through: gate, on: thread, body)
    }

    private func gather<Responder, Value: Sendable>(
        _ list: ResponderList<Responder>?, through gate: Gate, on thread: LaneThread,
        _ body: @Sendable (Responder) throws -> Value
    ) -> [Answer<Value>] {
        // The answers belong to the sender: they are kept also on a thread that has lost the lane.
        var answers: [Answer<Value>] = []
        func ask(_ entry: ResponderList<Responder>.Entry) throws {
            do {
                answers.append(Answer(entry.slot.id, .success(try body(entry.responder))))
            } catch {
                answers.append(Answer(entry.slot.id, .failure(error)))
                throw error
            }
        }
        let end = gate.fanOut(
            to: list ?? self.list(of: Responder.self), on: thread,
            overdue: { entries, index in
                let slot = entries[index].slot
                let error: RouteError = slot.id.map(RouteError.overdue) ?? .stopped
                answers.append(Answer(slot.id, .failure(error)))
                return .next
            },
            failure: { slot, error in
                gate.lane.reportFailure(of: slot, error)
                return .next
            },
            alone: { entries, index in try ask(entries[index]) },
            { entries, index, _ in
                try ask(entries[index])
                return .next
            })
        switch end {
        case .finished: return answers
        case .tooDeep:
            let chain = thread.stack(at: thread.ownership).compactMap { gate.lane.slot($0)?.id }
            let members = gate.lane.asHost {
                self.list(of: Responder.self).entries.map(\.slot.id)
            }
            return (members ?? []).map { Answer($0, .failure(RouteError.tooDeep(chain))) }
        case .lost(let rest): return answers + gatherRest(rest, through: gate, body)
        }
    }

    /// Makes the lane ask the remaining members for a sender that lost the lane in between.
    private func gatherRest<Responder, Value: Sendable>(
        _ modules: Set<ModuleID>?, through gate: Gate,
        _ body: @Sendable (Responder) throws -> Value
    ) -> [Answer<Value>] {
        if modules?.isEmpty == true { return [] }
        let rest = gate.lane.serve { thread in
            let list = modules.map { modules in
                fill(ResponderList<Responder>()) { id in id.map(modules.contains) ?? false }
            }
            return gather(list, through: gate, on: thread, body)
        }
        return rest ?? []
    }

    private func gatherFromOwn<Responder, Value: Sendable>(
        _ list: ResponderList<Responder>, _ body: @Sendable (Responder) throws -> Value
    ) -> [Answer<Value>] {
        guard ownDepth < CallDepth.maximum else {
            return list.entries.map { _ in Answer(nil, .failure(RouteError.tooDeep([]))) }
        }
        ownDepth += 1
        defer { ownDepth -= 1 }
        var answers: [Answer<Value>] = []
        for entry in list.current(at: ownEpoch).entries where !entry.member.isRemoved {
            let result = Result { try body(entry.responder) }
            answers.append(Answer(nil, result))
            if case .failure(let error) = result { onFailure(entry.member.object, error) }
        }
        return answers
    }
}

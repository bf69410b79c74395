/// An object that receives events of one kind: through the kind's own protocol, or as one that receives many
/// kinds through one method.
struct EventListener<Responder> {
    /// Addresses, which `keeper` keeps alive: taking a reference out of its list would count it for each
    /// delivery, which costs more than the delivery.
    private enum Way {
        case direct(Unmanaged<Box<Responder>>)
        case wildcard(Unmanaged<Box<any WildcardResponder>>)
    }

    private let way: Way
    private let keeper: AnyObject

    /// Creates a listener; nil if the object does not receive events of the kind.
    ///
    /// - Parameter handlers: What runs its asynchronous handlers; nil for an object that is only asked what it receives.
    init?(_ object: AnyObject, of kind: EventKind, handlers: OpenHandlers? = nil) {
        if let module = object as? Responder {
            let box = Box(module)
            (way, keeper) = (.direct(.passUnretained(box)), box)
        } else if let responder = wildcard(object, of: kind, handlers) {
            let box = Box(responder)
            (way, keeper) = (.wildcard(.passUnretained(box)), box)
        } else {
            return nil
        }
    }

    /// Calls the object: through the kind's protocol, or else as one that receives many kinds.
    @inline(__always)
    func call<Result>(
        direct: (Responder) throws -> Result, wildcard: (any WildcardResponder) throws -> Result
    ) rethrows -> Result {
        switch way {
        case .direct(let box): try box._withUnsafeGuaranteedRef { try direct($0.value) }
        case .wildcard(let box): try box._withUnsafeGuaranteedRef { try wildcard($0.value) }
        }
    }
}

private final class Box<Value> {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// An object that receives events of many kinds through one method.
///
/// Limited to classes: a cast of an object to any other protocol first looks for a boxed value of Foundation, which
/// takes half a million instructions at the first cast of a process.
protocol WildcardResponder: AnyObject {
    /// Returns whether it receives events of a kind; called once for each kind.
    func receives(_ kind: EventKind) -> Bool

    /// The topics of the messages that it receives.
    var topics: [String] { get }

    /// Delivers an event to it.
    func hear(_ event: LifecycleEvent) throws -> EventReply
}

/// Returns the object as one that receives events of a kind through one method; nil if it does not receive
/// them.
private func wildcard(
    _ object: AnyObject, of kind: EventKind, _ handlers: OpenHandlers?
) -> (any WildcardResponder)? {
    if let handler = kind.definition.asyncHandler(of: object) {
        return AsyncListener(handler, of: handlers)
    }
    if let responder = object as? any EveryEventResponder {
        return EveryEvent(responder)
    }
    let responder = object as? any WildcardResponder
    return responder?.receives(kind) == true ? responder : nil
}

private final class EveryEvent: WildcardResponder {
    private let responder: any EveryEventResponder

    init(_ responder: any EveryEventResponder) { self.responder = responder }

    func receives(_: EventKind) -> Bool { true }

    var topics: [String] { ["*"] }

    func hear(_ event: LifecycleEvent) throws -> EventReply {
        try responder.didHear(event.kind)
        return .observed(event.kind.wantsFetchResult ? .noData : nil)
    }
}

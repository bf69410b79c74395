/// The properties of a kind of event, as its definition states them.
struct EventFacts: Sendable {
    /// The common reply that the modules' replies make.
    enum Reply: Sendable {
        case none
        /// The first module that claims the event ends the search.
        case claim
        /// The results of all modules are joined.
        case fetchResult
    }

    /// The type of the event's payload; nil if the event takes none.
    ///
    /// Events with a payload are durable, since no later event repeats their data.
    var payload: (any EventPayload.Type)?
    /// The change of the app's state that the event requests; nil if it does not concern the state.
    var change: LifecycleState.Change?
    var reply = Reply.none
    /// Whether only the host itself sends the event.
    var isHostsOwn = false
    /// The number that stands for the event in a black box: never reused for another in a later version.
    var code: UInt64
    /// The declaration of the handler, as `hostd new` writes it: without `func`, `throws` and the result.
    var handler: String
    /// A payload as JSON, for the tests that `hostd new` writes; nil for an event without a payload.
    var example: String?
}

/// A kind of event whose definition is known; `Events/` has the table of definitions.
protocol DefinedEvent {
    /// The properties that the definition states.
    var definedFacts: EventFacts { get }
}

extension EventKind {
    private static let all = allCases.map(\.definedFacts)

    /// The properties of the kind.
    var facts: EventFacts {
        // By its address: a copy would count the references of its texts each time.
        @inline(__always) _read { yield Self.all[place] }
    }
}

/// An event that a new module receives.
struct EventPart {
    let kind: EventKind

    init(_ kind: EventKind) { self.kind = kind }

    /// The protocol with its handler.
    var responder: String { kind.responder }

    /// The declaration of its handler, without `func` and `throws`.
    var signature: String { kind.handler }

    /// The type of the handler's result and a value of it, as Swift code; nil for none.
    var result: (type: String, value: String)? {
        if kind.wantsFetchResult { return ("FetchResult", ".noData") }
        // Not claimed: the next module is asked, or the URL's route.
        return kind.isClaimed ? ("Bool", "false") : nil
    }

    /// The statement by which a test delivers it, as Swift code; nil where that happens by itself, or only in
    /// a reload.
    func delivery(topic: String) -> String? {
        if kind.isHostsOwn || kind == .activate || kind == .terminate { return nil }
        guard let example = kind.examplePayload else { return "try await host.deliver(.\(kind))" }
        let payload =
            kind == .message ? #"{"topic": "\#(topic)", "payload": 1}"# : example
        return "try await host.deliver(.\(kind), #\"\(payload)\"#)"
    }

    /// The order in which a test delivers events: those of the foreground come first.
    static let order: [EventKind] =
        EventKind.allCases.filter { ![.resignActive, .background, .foreground].contains($0) }
        + [.resignActive, .background, .foreground]
}

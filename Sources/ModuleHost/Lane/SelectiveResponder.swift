/// An object that conforms to every responder protocol, and wants to be told by some of them.
protocol SelectiveResponder: AnyObject {
    func wants<Responder>(_ responder: Responder.Type) -> Bool

    /// Whether it wants to be told of an event, of those that such a protocol is about.
    func hears(_ kind: EventKind) -> Bool
}

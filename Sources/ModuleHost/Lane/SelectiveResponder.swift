/// An object that conforms to every responder protocol, and wants to be told by some of them.
protocol SelectiveResponder: AnyObject {
    func wants<Responder>(_ responder: Responder.Type) -> Bool

    /// Returns whether the object wants an event, of those that its protocols are about.
    func hears(_ kind: EventKind) -> Bool
}

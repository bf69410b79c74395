public import ModuleHost

/// A module that tells others what must not be lost, as docs/modules.md shows it.
public final class ParcelModule: RoutedModule {
    struct Arrival: Encodable {
        struct Parcel: Encodable { var number: Int }

        var topic = "parcel.arrived"
        var payload: Parcel
    }

    struct Request: Decodable, Sendable { var number: Int }

    /// Its routes.
    public static var routes: [Route<ParcelModule>] {
        [
            Route("arrived/:number", access: .public) {
                (module, request: Request, call) async throws -> String in
                let parcel = Arrival.Parcel(number: request.number)
                let acceptance = try await module.context.send(
                    .message, Arrival(payload: parcel), id: "parcel-\(parcel.number)",
                    source: "gate 3")
                return switch acceptance {
                case .accepted: "accepted"
                case .duplicate: "known"
                }
            },
            Route("delivered/:number", access: .public) {
                (module, request: Request, call) async throws -> String in
                let parcel = Arrival.Parcel(number: request.number)
                switch try await module.context.deliver(.message, Arrival(payload: parcel)) {
                case .delivered(let count, let failed):
                    return "\(count) received it, \(failed) failed"
                case .waiting: return "a module has yet to receive it; the inbox keeps it"
                case .unheard(let reason), .unopened(let reason), .deadLetter(let reason):
                    return reason
                case .left: return "the host stops; the next one delivers it"
                case .duplicate: return "known"
                }
            },
            Route("refused/:event", access: .public) {
                (module, parameters: Event, call) async throws -> String in
                do {
                    let kind = EventKind(rawValue: parameters.event) ?? .message
                    try await module.context.send(kind, ["badge": 3], id: "refused")
                    return "accepted"
                } catch let error as SendError {
                    return "\(error.isInvalid ? "invalid" : "not now"): \(error)"
                }
            },
        ]
    }

    struct Event: Decodable, Sendable { var event: String }

    private let context: ModuleContext

    /// - Parameter context: Its log, and what it sends by.
    public init(context: ModuleContext) { self.context = context }
}

/// Hears of parcels, in the host's own process or in another.
public final class ParcelListener: MessageResponder, TopicListener {
    /// The topics of parcels.
    public static var topics: [String] { ["parcel.*"] }

    private let context: ModuleContext

    /// - Parameter context: Its log, and what it sends by.
    public init(context: ModuleContext) { self.context = context }

    /// Writes the parcel into the log.
    public func receive(_ message: Message) throws {
        let text = message.payload?["number"]?.text ?? "?"
        guard text != "0" else { throw NoParcel() }
        context.log.notice("parcel \(text) from \(context.event?.source ?? "?")")
    }
}

private struct NoParcel: Error {}

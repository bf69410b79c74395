import ModuleHostCore

/// A module all of whose code can stand before a door: what decodes its requests, judges and answers
/// them, and what becomes of its replies and errors.
final class StallProbe: RoutedModule, ConfiguredModule, MemoryWarningResponder {
    struct Configuration: Decodable { var probe: String }

    /// A request that says which probe it belongs to.
    struct Plain: Decodable { var probe: String }

    /// A request that stands before a door while it is made.
    struct Stalling: Decodable {
        var probe: String

        enum CodingKeys: CodingKey { case probe }

        init(from decoder: any Decoder) throws {
            probe = try decoder.container(keyedBy: CodingKeys.self).decode(
                String.self, forKey: .probe)
            Probe.named(probe)?.stand("decode")
        }
    }

    /// A reply that stands before a door when it is written, and when it ends.
    final class Reply: Encodable, Sendable {
        let probe: Probe?

        init(_ probe: Probe?) { self.probe = probe }

        deinit { probe?.stand("deinit") }

        func encode(to encoder: any Encoder) throws {
            probe?.stand("encode")
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// An error that stands before a door when it is asked what it is.
    struct Riddle: Error, CustomStringConvertible {
        let probe: Probe?

        var description: String {
            probe?.stand("describe")
            return "a riddle"
        }
    }

    static var routes: [Route<StallProbe>] {
        [
            Route("decode") { (module, request: Stalling, call) in },
            Route("predicate") { (request: Plain) in
                Probe.named(request.probe)?.stand("predicate")
                return true
            } handler: {
                (module, request: Plain, call) in
            },
            Route("handle") { (module, request: Plain, call) in module.probe?.stand("handle") },
            Route("encode") { (module, request: Plain, call) in Reply(module.probe) },
            Route("describe") { (module, request: Plain, call) throws -> Void in
                throw Riddle(probe: module.probe)
            },
        ]
    }

    private let probe: Probe?

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
    }

    func didReceiveMemoryWarning() throws { throw Riddle(probe: probe) }
}

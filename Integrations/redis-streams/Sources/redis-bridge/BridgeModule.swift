import EventStreams
import ModuleHostCore
import RedisBridge

/// The bridge as a module of a host: its messages go out, those of other hosts come into its inbox.
final class BridgeModule: AsyncMessageResponder, WindowedModule, RunningModule {
    /// More than the bridge publishes at a time, so that a window is there when another was published.
    static let window = StreamLimits.window

    let topics: [String]
    private let context: ModuleContext
    private let bridge: Bridge
    private let inbox: ModuleInbox
    /// Held as long as the module lives.
    private let lock: StateLock

    /// Reads the settings and the files of the bridge; Redis is not needed for that.
    init(context: ModuleContext) throws {
        let settings = try context.config(BridgeConfiguration.self)
            // A program runs in the folder of the slatefile.
            .settings(app: context.app, folder: ".")
        guard let hostID = context.hostID else { throw NoHostID() }
        self.context = context
        topics = settings.topics.topics
        lock = try StateLock(folder: context.stateDirectory)
        inbox = ModuleInbox(context.log)
        bridge = try Bridge(
            settings, hostID: hostID, folder: context.stateDirectory, host: inbox)
    }

    /// Publishes a message.
    ///
    /// Only durable ones have a place in the stream.
    func receive(_ message: Message, isolation: isolated any Actor) async throws {
        guard let event = context.event, let position = event.position else { return }
        do throws(NotNow) {
            try await bridge.publish(
                Bridge.Message(
                    position: position.description, id: event.id, source: event.source,
                    topic: message.topic, body: message.payload?.text ?? "null"))
        } catch {
            throw RetryLater(after: error.after)
        }
    }

    /// Receives the events of other hosts, which are sent to the inbox here, in the module.
    func run(isolation: isolated any Actor) async throws {
        let receiving = Task.immediate { [bridge] in await bridge.receive() }
        await withTaskCancellationHandler {
            _ = isolation
            while let request = await inbox.next() {
                switch request {
                case .work(let work):
                    // Nothing waits for it here: its answer may take as long as the work does.
                    _ = Task.immediate {
                        _ = isolation
                        inbox.answer(work, await self.deliver(work.event))
                    }
                case .batch(let batch):
                    // Each begins before the next is created: that is the order of their positions.
                    let sends = batch.events.map { event in
                        Task.immediate {
                            _ = isolation
                            return await self.send(event)
                        }
                    }
                    var outcomes: [IncomingOutcome] = []
                    for send in sends { outcomes.append(await send.value) }
                    batch.answer(outcomes)
                }
            }
        } onCancel: { [inbox] in
            inbox.close()
        }
        receiving.cancel()
        await receiving.value
    }

    private func deliver(_ event: IncomingEvent) async -> WorkOutcome {
        do {
            let delivery = try await context.deliver(
                .message, MessagePayload(event), id: event.id, source: event.source)
            return switch delivery {
            case .delivered, .unopened, .deadLetter, .duplicate: .delivered
            case .waiting: .waiting
            case .unheard(let reason): .unheard(reason)
            case .left: .left
            }
        } catch let error as SendError {
            return error.isInvalid ? .invalid("\(error)") : .notNow("\(error)")
        } catch {
            return .invalid("the body is not valid JSON: \(error)")
        }
    }

    private func send(_ event: IncomingEvent) async -> IncomingOutcome {
        do {
            _ = try await context.send(
                .message, MessagePayload(event), id: event.id, source: event.source)
            return .accepted
        } catch let error as SendError {
            return error.isInvalid ? .invalid("\(error)") : .notNow("\(error)")
        } catch {
            return .invalid("the body is not valid JSON: \(error)")
        }
    }
}

/// The payload of a `message`.
private struct MessagePayload: Encodable {
    let topic: String
    let payload: JSONValue

    init(_ event: IncomingEvent) throws {
        (topic, payload) = (event.topic, try JSONValue(parsing: event.body))
    }
}

/// The error of a host whose positions are not unique.
private struct NoHostID: Error, CustomStringConvertible {
    let description =
        "the host has no id, and so no inbox whose events could be published: start it with 'hostd run', or give an embedded host an inbox"
}

import Logging
import ModuleHostServiceLifecycle
import ModuleHostTesting
import Testing

/// A main module that logs the mails that it receives.
final class InboxMailModule: MessageResponder, RootProvider {
    let topics = ["mail"]
    let root: String? = nil
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func receive(_ message: Message) { context.log.notice("received \(context.event?.id ?? "")") }
}

/// A server that answers a client when its mail is on the disk.
private struct MailDoor: Service {
    let host: AppHost
    let given: @Sendable (EventAcceptance) -> Void

    func run() async throws {
        let mail = try JSONValue(parsing: #"{ "topic": "mail", "payload": "hello" }"#)
        let acceptance = try await host.send(.message, payload: mail, id: "mail-17")
        given(acceptance)
        try await gracefulShutdown()
    }
}

@Suite("A group whose host has an inbox and a control socket", .timeLimit(.minutes(2)))
struct DurableGroupTests {
    @Test("an event is accepted once, also by the next program; 'hostd stop' shuts the group down")
    func durable() async throws {
        let folder = try TemporaryFolder()
        let slatefile = folder.path("slatefile.json")
        try folder.write(
            """
            { "slate": 1, "app": "mail", "modules": [
              { "id": "x.mail", "entry": "ModuleHostServiceLifecycleTests.InboxMailModule",
                "main": true } ] }
            """, to: "slatefile.json")
        let (acceptances, given) = AsyncStream<EventAcceptance>.makeStream()
        var first = acceptances.makeAsyncIterator()
        for round in 1...2 {
            let host = try AppHost(
                slatefileAt: slatefile, settings: .init(hasInbox: true, hasControlSocket: true)
            ) { print($0.module ?? "host", $0.message) }
            let group = ServiceGroup(
                configuration: .init(
                    services: [
                        .init(
                            service: AppHostService(host),
                            successTerminationBehavior: .gracefullyShutdownGroup),
                        .init(service: MailDoor(host: host) { given.yield($0) }),
                    ], logger: Logger(label: "mail")))
            async let end: Void = group.run()
            let acceptance = await first.next()
            #expect((acceptance == .duplicate) == (round == 2))
            let client = try HostClient(stateDirectory: folder.path(".hostd"))
            #expect(try await client.stop()["outcome"]?.string == "stopped")
            try await end
        }
    }
}

// The module of docs/answers.md, compiled and run.

import ModuleHostCore
import ModuleHostTesting
import Testing

@Suite("TeaOrderModule", .timeLimit(.minutes(10)))
struct TeaOrderModuleTests {
    @Test("a push is delivered when its handler has returned")
    func push() async throws {
        let host = try await TestHost(modules: [TeaOrderModule.self])
        let delivery = try await host.deliver(.push, #"{"aps": {}, "order": "tea"}"#)
        #expect(delivery?.delivered == 1)
        #expect(delivery?.fetchResult == .newData)
        #expect(host.messages(of: "test.tea-order") == ["order tea: 250 g"])
        #expect(await host.stop() == .stopped)
    }

    @Test("a class with both forms of a handler is refused before anything runs")
    func both() async throws {
        let error = await #expect(throws: SlatefileError.self) {
            try await TestHost(modules: [BothModule.self])
        }
        #expect(
            "\(try #require(error))".contains(
                "is a MessageResponder and an AsyncMessageResponder, and one of them would never be called: "
                    + "leave one out"))
    }
}

private final class BothModule: MessageResponder, AsyncMessageResponder {
    let topics = ["*"]

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
    func receive(_ message: Message, isolation: isolated any Actor) async throws {}
}

private let server = Server()

private struct Server {
    @concurrent func order(_ name: String) async -> Order { Order(id: name, grams: 250) }
}

private struct Order: Sendable {
    let id: String
    let grams: Int
}

private final class TeaOrderModule: AsyncRemoteNotificationResponder {
    private let context: ModuleContext
    private var orders: [String: Order] = [:]

    init(context: ModuleContext) { self.context = context }

    func didReceiveRemoteNotification(
        _ notification: RemoteNotification, isolation: isolated any Actor
    ) async throws -> FetchResult {
        let order = await server.order(notification.payload?["order"]?.string ?? "")
        // In the module again; others went on meanwhile.
        orders[order.id] = order
        context.log.notice("order \(order.id): \(order.grams) g")
        return .newData
    }
}

// The server with durable events of docs/embedding.md, compiled and run.

import ModuleHostCore

/// A server that loses no order when it is killed, and with which the commands of `hostd` work.
struct OrderServer {
    let host: AppHost

    init(slatefile: String) throws {
        host = try AppHost(
            slatefileAt: slatefile, settings: .init(hasInbox: true, hasControlSocket: true)
        ) { record in
            print(record.level.rawValue, record.module ?? "host", record.message)
        }
    }

    /// Accepts an order once: when this returns, the order is on the disk.
    func accept(order id: String) async throws {
        let message = try JSONValue(parsing: #"{ "topic": "ordered" }"#)
        try await host.send(.message, payload: message, id: id)
    }
}

import Served

/// A line that is sent to a server, whichever core the server is on.
struct PlacedWay {
    let title: String
    let server: Server
    let socket: String
    let line: String

    init(_ title: String, _ server: Server, _ socket: String, _ line: String) {
        (self.title, self.server, self.socket, self.line) = (title, server, socket, line)
    }
}

/// Measures lone calls where the client and the server share a core, and where each has its own; prints the table.
func measurePlaced(_ ways: [PlacedWay]) throws {
    let measured = try Placement.allCases.map { _ in
        try ways.map { try Way($0.title, at: $0.socket, sending: $0.line) }
    }
    for number in 0..<Way.rounds {
        for (placement, placed) in zip(Placement.allCases, measured) {
            for (way, measured) in zip(ways, placed).turns(inRound: number) {
                try placement.place(way.server.id)
                try measured.measureLone()
            }
        }
    }
    let columns = Placement.allCases.flatMap { placement in
        ["p50", "p99"].map { "\(placement.title): \($0), µs" }
    }
    print("\n| lone calls, client and server on | \(columns.joined(separator: " | ")) |")
    print("|---|\(columns.map { _ in "---:|" }.joined())")
    for (index, way) in ways.enumerated() {
        let cells = measured.map { $0[index].loneCells }
        print("| \(way.title) | \(cells.joined(separator: " | ")) |")
    }
}

import Served

/// What is sent.
enum Line {
    /// A call that the community of the default slatefile answers for every caller.
    static let call = #"""
        {"jsonrpc":"2.0","id":1,"method":"call","params":\#
        {"module":"com.mm.community","action":"userInfo","parameters":{"style":1}}}
        """#
    /// What the host answers without the app.
    static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
}

/// A line that one client sends to one server, over and over.
final class Way {
    let title: String
    private let client: Client
    private let line: [UInt8]
    /// How long its answer is: always the same, since the line is.
    private let answerLength: Int
    private var perSecond: [Int] = []
    /// Nanoseconds of every lone call, of all rounds.
    private var lone: [Int] = []

    init(_ title: String, at path: String, sending text: String) throws {
        self.title = title
        client = try Client(path)
        line = Array((text + "\n").utf8)
        try client.send(line)
        let answer = String(decoding: try client.receiveLine(), as: UTF8.self)
        guard !answer.contains(#""error""#) else { throw Failure(answer) }
        answerLength = answer.utf8.count
    }

    /// One round: a burst, then lone calls.
    func measure() throws {
        // Two portions are on their way at a time: the server always has something to do, and both fit
        // what a socket holds, so that neither waits for the other to read.
        let portion = 200
        let lines = Array(repeatElement(line, count: portion).joined())
        let portions = pipelinedCount / portion
        let began = nanoseconds()
        try client.send(lines)
        for sent in 1...portions {
            if sent < portions { try client.send(lines) }
            try client.receive(portion * answerLength)
        }
        perSecond.append(pipelinedCount * 1_000_000_000 / (nanoseconds() - began))

        for _ in 0..<loneCount / rounds {
            let began = nanoseconds()
            try client.send(line)
            try client.receive(answerLength)
            lone.append(nanoseconds() - began)
        }
    }

    /// What came of all rounds, as a row of the table.
    var row: String {
        let lone = lone.sorted()
        let (median, slow) = (lone[lone.count / 2], lone[lone.count * 99 / 100])
        return "| \(title) | \(perSecond.sorted()[perSecond.count / 2]) | \(tenths(median)) "
            + "| \(tenths(slow)) |"
    }

    /// Microseconds with one decimal.
    private func tenths(_ nanoseconds: Int) -> String {
        "\(nanoseconds / 1000).\(nanoseconds % 1000 / 100)"
    }
}

/// A line that one client sends to one server, over and over.
package final class Way {
    /// The rounds of a measurement, and what each way does in all of them.
    package static let rounds = 7
    private static let pipelinedCount = 50_000
    private static let loneCount = 10_000

    package let title: String
    private let client: Client
    private let line: [UInt8]
    /// How long its answer is: always the same, since the line is.
    private let answerLength: Int
    private var perSecond: [Int] = []
    /// Nanoseconds of every lone call, of all rounds.
    private var lone: [Int] = []

    /// - Parameters:
    ///   - title: The first column of its row.
    ///   - path: The socket.
    ///   - text: The line, to which every answer has the same length.
    /// - Throws: Where the answer is an error.
    package init(_ title: String, at path: String, sending text: String) throws {
        self.title = title
        client = try Client(path)
        line = Array((text + "\n").utf8)
        try client.send(line)
        let answer = String(decoding: try client.receiveLine(), as: UTF8.self)
        guard !answer.contains(#""error""#) else { throw Failure(answer) }
        answerLength = answer.utf8.count
    }

    /// One round: a burst, then lone calls.
    package func measure() throws {
        // Two portions are on their way at a time: the server always has something to do, and both fit
        // what a socket holds, so that neither waits for the other to read.
        let portion = 200
        let lines = Array(repeatElement(line, count: portion).joined())
        let portions = Self.pipelinedCount / portion
        let began = nanoseconds()
        try client.send(lines)
        for sent in 1...portions {
            if sent < portions { try client.send(lines) }
            try client.receive(portion * answerLength)
        }
        perSecond.append(Self.pipelinedCount * 1_000_000_000 / (nanoseconds() - began))
        try measureLone()
    }

    /// The lone calls of one round.
    package func measureLone() throws {
        for _ in 0..<Self.loneCount / Self.rounds {
            let began = nanoseconds()
            try client.send(line)
            try client.receive(answerLength)
            lone.append(nanoseconds() - began)
        }
    }

    /// The median of the lone calls, in nanoseconds.
    package var median: Int { lone.sorted()[lone.count / 2] }

    /// The median of the calls a second.
    package var pace: Int { perSecond.sorted()[perSecond.count / 2] }

    /// What came of all rounds, as a row of the table.
    package var row: String {
        "| \(title) | \(perSecond.sorted()[perSecond.count / 2]) | \(loneCells) |"
    }

    /// The lone calls of all rounds: the median, and 99 of 100, in microseconds.
    package var loneCells: String {
        let lone = lone.sorted()
        return "\(tenths(lone[lone.count / 2])) | \(tenths(lone[lone.count * 99 / 100]))"
    }

    /// Microseconds with one decimal.
    private func tenths(_ nanoseconds: Int) -> String {
        "\(nanoseconds / 1000).\(nanoseconds % 1000 / 100)"
    }
}

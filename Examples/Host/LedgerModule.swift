import Foundation
import ModuleHost

/// Keeps accounts, and books each deposit exactly once, whatever becomes of the host.
///
/// A durable event comes at least once, and again where the host died before it knew that this module was
/// done. So each entry of the ledger bears the position of the event that it was made for: both get onto
/// the disk in one write, or neither does. Positions only grow; an event that is not beyond the last entry
/// has been booked.
///
/// ```json
/// {"account":"mia","amount":5,"position":"1:4096"}
/// ```
final class LedgerModule: LaunchResponder, MessageResponder, RoutedModule {
    /// What a deposit says.
    struct Deposit: Decodable, Sendable {
        var account: String
        var amount: Int
    }

    /// A line of the ledger.
    struct Entry: Codable {
        var account: String
        var amount: Int
        var position: EventPosition
    }

    struct Total: Encodable, Sendable {
        var deposits: Int
        var total: Int
    }

    let topics = ["ledger.deposit"]

    private let context: ModuleContext
    private var file: LedgerFile?
    /// The position of the last entry.
    private var position: EventPosition?
    private var deposits = 0
    private var balances: [String: Int] = [:]

    init(context: ModuleContext) { self.context = context }

    static var routes: [Route<LedgerModule>] {
        [
            Route("total", access: .public, summary: "How many deposits, and their sum.") {
                (module, call) in
                Total(deposits: module.deposits, total: module.balances.values.reduce(0, +))
            },
            Route("balance/:account", access: .public, summary: "What an account has.") {
                (module, request: [String: String], call) in
                module.balances[request["account"] ?? ""] ?? 0
            },
        ]
    }

    /// Reads what was booked before.
    func didFinishLaunching(_ launch: Launch) throws {
        let file = try LedgerFile(at: "\(context.stateDirectory)/ledger.ndjson")
        let decoder = JSONDecoder()
        for line in file.lines { take(try decoder.decode(Entry.self, from: line)) }
        self.file = file
    }

    func receive(_ message: Message) throws {
        guard let position = context.position else { throw LedgerError.notDurable }
        if let last = self.position, position <= last {
            context.log.notice("already booked: \(position)")
            return
        }
        guard let deposit = try message.payload?.decode(Deposit.self) else { return }
        let entry = Entry(account: deposit.account, amount: deposit.amount, position: position)
        try append(JSONEncoder().encode(entry))
        take(entry)
    }

    private func take(_ entry: Entry) {
        balances[entry.account, default: 0] += entry.amount
        deposits += 1
        position = entry.position
    }

    /// Puts a line onto the disk, however long that takes.
    ///
    /// To throw would mean to be done with the event, which is not so on a full disk. A module that waits
    /// instead is overdue: the others go on, and this event and those after it are kept for this module.
    private func append(_ line: Data) throws {
        guard let file else { throw LedgerError.notOpen }
        var isReported = false
        while true {
            do {
                return try file.append(line)
            } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
                if !isReported { context.log.error("waiting for room on the disk") }
                isReported = true
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
    }
}

enum LedgerError: Error, CustomStringConvertible {
    case notDurable
    case notOpen

    var description: String {
        switch self {
        case .notDurable: "a deposit that is posted would not outlive the host: send it"
        case .notOpen: "the ledger could not be read at launch"
        }
    }
}

import Foundation
import Served

// The inbox: what it costs to have an event on the disk, beside a bare file and SQLite; what it costs many
// clients of one host; and how soon a host delivers what the last one left.
//
// `Inbox HOSTD [producers|clients|recovery]` measures, on the disk of the working folder.

let parts: [(name: String, measure: (_ hostd: String, _ folder: URL) throws -> Void)] = [
    ("producers", { try measureProducers(in: $1) }),
    ("clients", { try measureClients(of: $0, in: $1) }),
    ("recovery", { try measureRecovery(by: $0, in: $1) }),
]
let arguments = CommandLine.arguments
let wanted = parts.filter { arguments.count < 3 || $0.name == arguments[2] }
guard 2...3 ~= arguments.count, !wanted.isEmpty else {
    FileHandle.standardError.write(
        Data("usage: Inbox HOSTD [producers|clients|recovery]\n".utf8))
    exit(64)
}
signal(SIGPIPE, SIG_IGN)
let folder = try makeFolder(for: "inbox")
defer { try? FileManager.default.removeItem(at: folder) }

for part in wanted {
    try part.measure(arguments[1], folder)
    print()
}

/// The middle one.
func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }

/// Nanoseconds in units, with one decimal.
func tenths(_ nanoseconds: Int, of unit: Int) -> String {
    "\(nanoseconds / unit).\(nanoseconds % unit * 10 / unit)"
}

/// Writes a slatefile with these entries.
func writeSlatefile(_ entries: [String], to file: URL) throws {
    let modules = entries.map {
        #"{"id": "bench.\#($0.lowercased())", "entry": "Modules.\#($0)Module"\#($0 == "Main" ? #", "main": true"# : "")}"#
    }
    try """
    {"slate": 1, "app": "bench", "schemes": ["bench"], "modules": [\(modules.joined(separator: ", "))]}
    """.write(to: file, atomically: true, encoding: .utf8)
}

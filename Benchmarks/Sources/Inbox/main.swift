import Foundation
import Served

// The inbox: what it costs to have an event on the disk, beside a bare file and SQLite; what it costs one client and many
// of one host; and how soon a host delivers what the last one left.
//
// `Inbox HOSTD SYNCSERVER [producers|lone|clients|recovery|pending]` measures, on the disk of the working folder. SYNCSERVER is the
// limit of many clients, in C.

let arguments = CommandLine.arguments
let hostd = arguments.dropFirst().first ?? ""
let parts: [(name: String, measure: (_ folder: URL) throws -> Void)] = [
    ("producers", { try measureProducers(in: $0) }),
    ("lone", { try measureLoneEvents(of: hostd, in: $0) }),
    ("clients", { try measureClients(of: hostd, beside: arguments[2], in: $0) }),
    ("recovery", { try measureRecovery(by: hostd, in: $0) }),
    ("pending", { try measurePending(by: hostd, in: $0) }),
]
let wanted = parts.filter { arguments.count < 4 || $0.name == arguments[3] }
guard 3...4 ~= arguments.count, !wanted.isEmpty else {
    FileHandle.standardError.write(
        Data("usage: Inbox HOSTD SYNCSERVER [producers|lone|clients|recovery|pending]\n".utf8))
    exit(64)
}
signal(SIGPIPE, SIG_IGN)
let folder = try makeFolder(for: "inbox")
defer { try? FileManager.default.removeItem(at: folder) }

for part in wanted {
    try part.measure(folder)
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

import Foundation

/// The two slatefiles that take turns: another journal, another order, a module more.
struct Slatefiles {
    /// The journal that each of them names.
    let journals: [URL]
    /// Where the host looks.
    let path: URL

    init(in folder: URL) {
        path = folder.appending(path: "slatefile.json")
        journals = ["a", "b"].map { folder.appending(path: "journal-\($0).ndjson") }
    }

    /// Puts one of them in place, at one instant.
    func use(_ number: Int) throws {
        try text(number % 2).write(to: path, atomically: true, encoding: .utf8)
    }

    private func text(_ number: Int) -> String {
        let journal =
            #"{"id": "soak.journal", "entry": "Modules.JournalModule", "config": {"file": "\#(journals[number].lastPathComponent)"}}"#
        let push = #"{"id": "soak.push", "entry": "Modules.PushModule"}"#
        let metrics =
            #"{"id": "soak.metrics", "entry": "Modules.MetricsModule", "config": {"interval": "1s"}}"#
        let second =
            #"{"id": "soak.second", "entry": "Modules.PushModule", "config": {"uriKey": "link"}}"#
        let modules = number == 0 ? [journal, push, metrics] : [journal, metrics, second, push]
        return """
            {
              "slate": 1, "app": "soak", "schemes": ["soak"], "config": {"domain": "https://www.example.com"},
              "modules": [
                {"id": "soak.main", "entry": "Modules.MainModule", "main": true},
                \(modules.joined(separator: ",\n    ")),
                {"id": "soak.community", "entry": "Modules.CommunityModule"},
                {"id": "soak.browser", "entry": "Modules.BrowserModule"}
              ]
            }
            """
    }
}

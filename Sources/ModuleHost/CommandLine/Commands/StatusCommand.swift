import AppService

extension Command {
    static let status = Command(
        name: "status", summary: "show the state of the host",
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes, exitMeanings: clientExitMeanings,
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let status = try call.client.call("status")
                return arguments.has("json")
                    ? Console.write(json: status)
                    : Console.write(text(ofStatus: status, arguments.program.name))
            }
        })

    /// Returns the status in words.
    ///
    /// A host of another version may have fewer members, or more: missing ones are left out.
    private static func text(ofStatus status: JSONValue, _ program: String) -> TerminalText {
        func text(_ key: String) -> String? { status[key].map { $0.string ?? $0.text } }
        let readyTime = status["readyMs"]?.milliseconds
        let events = status["events"]?.members.map { "\($0.key) \($0.value.text)" } ?? []
        let holds =
            status["holds"]?.elements.map { "\($0["module"]?.string ?? "") \(describe($0))" } ?? []
        // For a running app the current step is not interesting.
        let isMoving = ["launching", "terminating"].contains(text("state"))
        let replacement =
            status["programReplaced"]?.bool == true
            ? "its file was replaced: restart the host to run the new one" : nil
        let change =
            status["slatefileChanged"]?.bool == true
            ? "has changed: '\(program) reload' applies the change"
            : status["probationMs"]?.milliseconds.map {
                "another one is on probation for \($0.briefText) more: '\(program) reload' takes it back"
            }
        let rows: [(String, [String?])] = [
            ("app", [text("app")]),
            ("state", [text("state").map { $0 + since(text("stateSince")) }]),
            ("process", [text("pid")]),
            ("version", [text("version"), replacement]),
            ("slatefile", [text("slatefile"), change]),
            ("state dir", [text("stateDirectory")]),
            ("started", [text("startedAt"), readyTime.map { "ready after \($0.briefText)" }]),
            ("start-up", slowStart(in: status)),
            (
                "modules",
                [
                    status.number("modulesRunning", "running"),
                    status.number("modulesFailed", "failed"),
                    status.number("modulesDone", "done"),
                ]
            ),
            ("running", isMoving ? [status["atWork"]?.string] : []),
            (
                "unresponsive", names(of: "unresponsive", in: status)
            ),
            ("failed", names(of: "failed", in: status)),
            (
                "instead",
                status["instead"]?.elements.map {
                    "\($0["module"]?.string ?? "") → \($0["url"]?.string ?? "")"
                } ?? []
            ),
            ("isolated", status["isolated"]?.elements.map(\.string) ?? []),
            ("disabled", status["disabled"]?.elements.map(\.string) ?? []),
            ("holds", holds),
            ("events", events.isEmpty ? ["none"] : events),
            ("inbox", parts(ofInbox: status["inbox"])),
            ("problem", [status["inbox"]?["problem"]?.string]),
            ("last death", [status["lastDeath"]?["text"]?.string]),
            (
                "errors",
                [
                    status.number(
                        "failures", "handlers of events threw", one: "handler of an event threw"),
                    status["timesUnresponsive"].map {
                        $0.int == 1 ? "unresponsive once" : "\($0.text) times unresponsive"
                    },
                    status.number("ignored", "events ignored", one: "event ignored"),
                ]
            ),
            ("reload", [lastReload(of: status)]),
        ]
        return rows.filter { !$0.1.compactMap(\.self).isEmpty }
            .map { name, parts -> TerminalText in
                let text = parts.compactMap(\.self).joined(separator: ", ")
                // One line for `grep`.
                guard Console.isTerminal else { return "\(name.padded(to: 14))\(text)\n" }
                return lines(name, text, margin: 14)
            }
            .joined()
    }

    /// Returns the modules that a member lists, each with the time since when it is in that state.
    private static func names(of key: String, in status: JSONValue) -> [String?] {
        status[key]?.elements.map { id in
            id.string.map { $0 + since(status["since"]?[$0]?.string) }
        } ?? []
    }

    /// Returns the slowest of the steps that READY waited for, in their order.
    private static func slowStart(in status: JSONValue) -> [String?] {
        let chain = status["startup"]?.elements.map(\.self) ?? []
        let slow = chain.filter { ($0["ms"]?.milliseconds ?? .zero) >= .milliseconds(100) }
        return slow.map { step in
            step["name"]?.string.map { "\($0) \(step["ms"]?.milliseconds?.briefText ?? "")" }
        }
    }

    private static func since(_ time: String?) -> String { time.map { " since \($0)" } ?? "" }

    private static func parts(ofInbox inbox: JSONValue?) -> [String?] {
        [
            inbox?["position"]?.string.map { "position \($0)" },
            inbox?.number("pendingBytes", "bytes pending"), inbox?.number("accepted", "accepted"),
            inbox?.number("done", "done"),
            inbox?.number("deadLetters", "dead letters", one: "dead letter"),
            inbox?.number("duplicates", "duplicates", one: "duplicate"),
        ]
    }

    /// Returns a hold in words, such as `background: upload, 8s left`.
    static func describe(_ hold: JSONValue) -> String {
        let left = hold["remainingMs"]?.milliseconds.map { ", \($0.briefText) left" }
        return "\(hold["event"]?.string ?? ""): \(hold["reason"]?.string ?? "")\(left ?? "")"
    }

    /// Returns the outcome and time of the last reload.
    private static func lastReload(of status: JSONValue) -> String? {
        guard let report = status["lastReload"], let outcome = report["outcome"]?.string else {
            return nil
        }
        let summary = report["summary"]?.string.map { $0 == outcome ? "" : ": \($0)" } ?? ""
        let time = report["time"]?.string.map { " at \($0)" } ?? ""
        return "\(outcome)\(time)\(summary)"
    }
}

extension JSONValue {
    /// Returns a member in words, such as `3 running`; nil where there is none.
    fileprivate func number(
        _ key: String, _ what: String, one: String? = nil
    ) -> String? {
        self[key].map { "\($0.text) \($0.int == 1 ? one ?? what : what)" }
    }
}

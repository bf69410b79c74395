/// The action of each signal, and the command that sends it, as `hostd signals` shows them.
package struct SignalTable: Hashable, Sendable {
    /// One signal.
    package struct Row: Hashable, Sendable {
        package let signal: SignalName
        /// The action, in words.
        package let action: String
    }

    /// The signals with an action, by number.
    package let rows: [Row]
    /// The state directory of the host.
    package let stateDirectory: StateDirectory
    /// Whether a host runs on it, and its process.
    package let holder: PidFile.Holder

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - actions: The actions of the slatefile, defaults included.
    ///   - stateDirectory: The folder of the host's pid file.
    ///   - holder: Whether a host runs there.
    package init(
        _ actions: [SignalName: Slatefile.SignalAction], stateDirectory: StateDirectory,
        holder: PidFile.Holder
    ) {
        rows = actions.sortedByNumber({ Int($0.key.number) })
            .map { Row(signal: $0.key, action: $0.value.summary) }
        self.stateDirectory = stateDirectory
        self.holder = holder
    }

    /// Returns the command that sends the signal: with the number of the running host, or else one that finds
    /// a future host.
    package func command(for row: Row) -> String {
        let path = stateDirectory.path(of: PidFile.name)
        let process =
            if case .host(let processID?) = holder { "\(processID)" } else {
                "$(cat \(shellQuoted(path)))"
            }
        return "kill -\(row.signal.name) \(process)"
    }

    /// The table as text for people.
    package var text: TerminalText {
        let actions = rows.map { TerminalText(escaping: $0.action) }
        let nameWidth = max(6, rows.map(\.signal.name.count).max() ?? 0)
        let actionWidth = actions.map(\.count).max() ?? 0
        func line(_ name: String, _ action: TerminalText, _ command: String) -> TerminalText {
            "\(name.padded(to: nameWidth))  \(action.padded(to: actionWidth))  \(command)\n"
        }
        var text = line("signal", "does", "command")
        for (row, action) in zip(rows, actions) {
            text += line(row.signal.name, action, command(for: row))
        }
        switch holder {
        case .nobody: text += "\nNo host runs on \(stateDirectory.path).\n"
        case .host(let processID?):
            text += "\nA host runs on \(stateDirectory.path), as process \(processID).\n"
        case .host(nil): text += "\nA host runs on \(stateDirectory.path).\n"
        case .unknown:
            text +=
                "\nWhether a host runs on \(stateDirectory.path) is not known: it is another user's.\n"
        }
        return text + """
            Of many standard signals sent at once, some may count as one.
            Real-time signals (RTMIN+1 and up) are queued: each one counts, in order.
            The lower number goes first: a TERM overtakes real-time signals still queued.
            Where the queue is full (RLIMIT_SIGPENDING), sigqueue fails with EAGAIN;
            those that kill sends are lost in silence.

            """
    }

    /// The table as JSON for programs: one object, a newline at its end.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("stateDirectory", stateDirectory.path)
            if case .host(let processID?) = holder { $0.member("pid", Int(processID)) }
            if holder != .unknown { $0.member("running", holder != .nobody) }
            $0.member("signals") {
                $0.objects(for: rows) { row, json in
                    json.member("signal", row.signal.name)
                    json.member("number", Int(row.signal.number))
                    json.member("does", row.action)
                    json.member("queued", Signals.realTime.contains(row.signal.number))
                    json.member("command", command(for: row))
                }
            }
        }
        json.newline()
        return json.bytes
    }
}

extension Slatefile.SignalAction {
    /// The action, in words.
    ///
    /// Payloads are not shown: they may contain secrets.
    fileprivate var summary: String {
        switch self {
        case .reload: "reload the slatefile"
        case .event(.terminate, _): "stop the host, exit 0; a second one ends it at once"
        case .event(let event, nil): event.rawValue
        case .event(let event, _): "\(event.rawValue), with a payload"
        case .openURL(let url): "open-url \(RouteToken.hide(in: url))"
        case .message(let topic, nil): "message to '\(topic)'"
        case .message(let topic, _): "message to '\(topic)', with a payload"
        }
    }
}

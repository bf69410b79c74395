extension Command {
    static let tail = Command(
        name: "tail", summary: "follow what happens in the host",
        discussion: """
            Ends when the host ends, or by Ctrl-C. The host never waits for its followers: a follower that
            reads too slowly loses the oldest lines, and is notified how many.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes, exitMeanings: clientExitMeanings,
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                _ = try call.client.call("tail")
                while let news = call.client.nextNotification() {
                    guard let what = news.parameters else { continue }
                    let code = Console.write(line(news.method, what, arguments.has("json")))
                    if code != .success { return code }
                }
                return .success
            }
        })

    private static func line(
        _ method: String, _ what: JSONValue, _ asJSON: Bool
    ) -> TerminalText {
        if asJSON { return TerminalText(json: "\(what.text)\n".utf8) }
        guard method == "lost" else { return TailText.line(of: what) }
        return "… \(what["lost"]?.text ?? "some") lost: read too slowly\n"
    }
}

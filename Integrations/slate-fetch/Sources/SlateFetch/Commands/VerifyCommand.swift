/// Checking what is published.
enum VerifyCommand {
    static let help = """
        usage: slate-fetch verify PLACE --key KEY [--key KEY]… [--host ID]

        Checks what is published, as a host does that knows these keys.

          --key KEY             a public key, or a .pub file
          --host ID             say from which stage on this host takes the version;
                                'inbox/host-id' in its state directory has the id
          --app APP             the app that it must be for; needed for Redis
          --password-file FILE  the password of Redis
          --insecure            send it unencrypted to another machine

          $ slate-fetch verify shop.json --key shop.key.pub --host 7f3c09d15b2ae640
          version 12 of 'shop' is published at stage 10 in 'shop.json'
          host 7f3c09d15b2ae640 takes it from stage 85 on
        """

    static func run(_ words: [String]) throws -> String {
        let arguments = try CommandArguments(
            words, options: ["--key", "--host", "--app", "--password-file"], flags: ["--insecure"],
            others: 1)
        let keys = try arguments.all("--key").map(KeyCommands.publicKey)
        guard !keys.isEmpty else { throw CommandError(.usage, "--key is missing") }
        let place = try PublishCommands.placeOfApp(arguments.others[0], arguments)
        let envelope = try Envelope(parsing: place.read(), from: "\(place)")
        try envelope.check(
            keys: keys, app: arguments.value("--app") ?? envelope.app, from: "\(place)")
        var text = "\(PublishCommands.summary(envelope)) in \(place)"
        if let host = try arguments.value("--host") {
            text += "\nhost \(host) takes it from stage \(envelope.place(of: host) + 1) on"
        }
        return text
    }
}

import EventStreams
import ModuleHostCore

/// Signing and publishing.
enum PublishCommands {
    static let signHelp = """
        usage: slate-fetch sign SLATEFILE --key FILE --version N --stage S --to PLACE

        Signs a slatefile for the hosts of its app, and publishes it. The same version
        with another stage is for more or fewer hosts: those that have it keep it.

          --key FILE            the private key, from 'slate-fetch keygen'
          --version N           higher than all before; a version has one slatefile
          --stage S             the percent of the hosts that take it, 0 to 100
          --to PLACE            a file, or Redis: unix:PATH or redis://HOST:PORT
          --password-file FILE  the password of Redis
          --insecure            send it unencrypted to another machine

          $ slate-fetch sign next.json --key shop.key --version 12 --stage 10 \\
              --to shop.json
          version 12 of 'shop' is published at stage 10 in 'shop.json'
        """

    static func sign(_ words: [String]) throws -> String {
        let arguments = try CommandArguments(
            words, options: ["--to", "--key", "--password-file", "--version", "--stage"],
            flags: ["--insecure"], others: 1)
        let path = arguments.others[0]
        let key = try KeyCommands.privateKey(arguments.required("--key"))
        let version = try CommandArguments.number(
            arguments.required("--version"), in: Envelope.versions, of: "--version")
        let stage = try CommandArguments.number(
            arguments.required("--stage"), in: Envelope.stages, of: "--stage")
        let text = try KeyCommands.text(of: path, limit: Envelope.limit, isLine: false)
        let app = try app(of: text, path)
        let place = try place(arguments.required("--to"), app: app, arguments)
        let envelope = try Envelope(
            signing: text, app: app, version: version, stage: stage, with: key)
        if let published = try published(at: place, by: key.publicKey) {
            guard
                published.version < version
                    || published.version == version && published.digest == envelope.digest
            else {
                throw CommandError(
                    .invalid,
                    "version \(published.version) is already published in \(place)\(published.version == version ? ", with another slatefile" : ""): sign this one with '--version \(published.version + 1)'"
                )
            }
        }
        try publish(envelope, at: place)
        let warning =
            mentions(text)
            ? ""
            : "\nwarning: the slatefile has no program 'slate-fetch': hosts that take it receive no further version"
        return "\(summary(envelope)) in \(place)\(warning)"
    }

    static func summary(_ envelope: Envelope) -> String {
        "version \(envelope.version) of '\(envelope.app)' is published at stage \(envelope.stage)"
    }

    /// The place of an option, for an app that `--app` names if the place is Redis.
    static func placeOfApp(
        _ word: String, _ arguments: CommandArguments
    ) throws(CommandError) -> Place {
        let app = try arguments.value("--app")
        guard app != nil || !Place.isRedis(word) else {
            throw CommandError(.usage, "--app is missing: the key in Redis begins with it")
        }
        return try place(word, app: app ?? "", arguments)
    }

    private static func place(
        _ word: String, app: String, _ arguments: CommandArguments
    ) throws(CommandError) -> Place {
        let passwordFile = try arguments.value("--password-file")
        do throws(StreamError) {
            return try Place(
                word, app: app, passwordFile: passwordFile,
                isInsecureAllowed: arguments.has("--insecure"))
        } catch {
            throw CommandError(.usage, error.description)
        }
    }

    /// The app of a slatefile.
    private static func app(of text: String, _ path: String) throws(CommandError) -> String {
        do throws(JSONError) {
            if let app = try JSONValue(parsing: text)["app"]?.string { return app }
        } catch {
            throw CommandError(
                .invalid, "'\(path)' is not a slatefile: \(error). See 'hostd check'")
        }
        throw CommandError(
            .invalid, "'\(path)' is not a slatefile: it has no 'app'. See 'hostd check'")
    }

    private static func mentions(_ text: String) -> Bool {
        let name = Array("slate-fetch".utf8)
        let bytes = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: name) }
    }

    /// The version that a key has published; nil if there is none, or something else.
    private static func published(
        at place: Place, by key: PublicKey
    ) throws(Report) -> Envelope? {
        guard let bytes = try place.readIfAny() else { return nil }
        do throws(Report) {
            let envelope = try Envelope(parsing: bytes, from: "\(place)")
            try envelope.check(keys: [key], app: envelope.app, from: "\(place)")
            return envelope
        } catch {
            return nil
        }
    }

    private static func publish(_ envelope: Envelope, at place: Place) throws {
        do {
            try place.write(envelope.bytes)
        } catch let error as DurableFileError {
            throw CommandError(.cannotCreate, error.description)
        } catch {
            throw CommandError(.away, "\(error)")
        }
    }
}

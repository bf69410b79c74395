import EventStreams

/// The `config` of slate-fetch, as it is written.
struct FetchConfiguration: Decodable {
    let source: String
    let keys: [String]
    let poll: Duration?
    let probation: Duration?
    let passwordFile: String?
    let insecure: Bool?
}

/// The settings of slate-fetch.
struct FetchSettings: Sendable {
    static let polls = Duration.seconds(1)...Duration.seconds(3600)
    static let keyLimit = 16

    let place: Place
    let keys: [PublicKey]
    let poll: Duration
    let probation: Duration

    /// Checks a `config`.
    ///
    /// - Throws: ``FetchSettingsError`` with all errors at once.
    init(_ config: FetchConfiguration, app: String) throws(FetchSettingsError) {
        var errors: [String] = []
        var place: Place?
        do throws(StreamError) {
            place = try Place(
                config.source, app: app, passwordFile: config.passwordFile,
                isInsecureAllowed: config.insecure ?? false)
        } catch {
            errors.append("'source': \(error)")
        }
        keys = config.keys.compactMap { PublicKey($0) }
        if config.keys.contains(where: { $0.hasPrefix(PrivateKey.prefix) }) {
            errors.append(
                "'keys' has a private key: remove it, make a new pair with 'slate-fetch keygen', and use what its .pub file has"
            )
        } else if keys.count < config.keys.count || !(1...Self.keyLimit).contains(keys.count) {
            errors.append(
                "'keys' must have 1 to \(Self.keyLimit) public keys, each 'ed25519:' and 64 hexadecimal digits, as 'slate-fetch keygen' writes them into a .pub file"
            )
        }
        poll = config.poll ?? .seconds(30)
        probation = config.probation ?? .seconds(60)
        for (key, value) in [("poll", poll), ("probation", probation)]
        where !Self.polls.contains(value) {
            errors.append("'\(key)' must be from 1s to 1h")
        }
        guard errors.isEmpty, let place else { throw FetchSettingsError(errors: errors) }
        self.place = place
    }
}

/// The errors of a `config`, all of them.
struct FetchSettingsError: Error, Hashable, CustomStringConvertible {
    let errors: [String]
    var description: String { errors.joined(separator: "\n") }
}

import Crypto
import ModuleHostCore

/// A signed slatefile, as it is published: one JSON object, described in README.md.
struct Envelope: Hashable, Sendable {
    static let format = "slate-fetch 1"
    /// The bytes of a slatefile as a string of JSON: a request to a host has no more room.
    static let slatefileLimit = 1_000_000
    /// The bytes of an envelope.
    static let limit = slatefileLimit + 4096
    /// The possible versions: one more is a number, too.
    static let versions = 1...1_000_000_000_000
    /// The percent of the hosts that may take a version.
    static let stages = 0...100

    let app: String
    let version: Int
    let stage: Int
    let slatefile: String
    let key: PublicKey
    let signature: [UInt8]

    private struct Members: Decodable {
        let format, app: String
        let version, stage: Int
        let slatefile, key, signature: String
    }

    /// Signs a slatefile.
    ///
    /// - Throws: ``Report`` if it has no app, or is too large.
    init(
        signing slatefile: String, app: String, version: Int, stage: Int, with key: PrivateKey
    ) throws {
        let signed = Self.signedBytes(app, version, stage, slatefile)
        (self.app, self.version, self.stage, self.slatefile) = (app, version, stage, slatefile)
        self.key = key.publicKey
        signature = try key.signature(of: signed)
        try checkSize(of: "the slatefile")
    }

    /// Reads an envelope; its signature is not checked.
    ///
    /// - Parameters:
    ///   - bytes: At most ``limit`` of them.
    ///   - place: Where they come from, for the error.
    /// - Throws: ``Report``.
    init(parsing bytes: [UInt8], from place: String) throws(Report) {
        let members: Members?
        let format: String?
        do throws(JSONError) {
            let value = try JSONValue(parsing: bytes)
            format = value["format"]?.string
            members = format == Self.format ? try value.decode(Members.self) : nil
        } catch {
            throw Report(
                .refused,
                "\(place) is not a signed slatefile: \(excerpt("\(error)", limit: 200)). Publish it with 'slate-fetch sign'"
            )
        }
        guard let members else {
            throw Report(
                .refused,
                "\(place) has the format '\(excerpt(format ?? ""))', and this program reads '\(Self.format)': publish with 'slate-fetch sign' of this version"
            )
        }
        guard Self.versions.contains(members.version), Self.stages.contains(members.stage),
            let key = PublicKey(members.key), let signature = Hex.bytes(members.signature)
        else {
            throw Report(
                .refused,
                "\(place) is not a signed slatefile: its version must be from 1 to 10¹², its stage from 0 to 100, its key and signature hexadecimal. Publish it with 'slate-fetch sign'"
            )
        }
        (app, version, stage) = (members.app, members.version, members.stage)
        (slatefile, self.key, self.signature) = (members.slatefile, key, signature)
        try checkSize(of: place)
    }

    private func checkSize(of place: String) throws(Report) {
        var json = JSONWriter()
        json.value(slatefile)
        guard json.bytes.count <= Self.slatefileLimit else {
            throw Report(
                .refused,
                "\(place) has \(json.bytes.count) bytes as a string of JSON; at most \(Self.slatefileLimit) are possible, since a host accepts no larger request"
            )
        }
    }

    /// Checks that one of the keys has signed the envelope, for an app.
    ///
    /// An error has no version before the signature is verified: any program could count it up, and have each logged.
    ///
    /// - Throws: ``Report``.
    func check(keys: [PublicKey], app: String, from place: String) throws(Report) {
        guard keys.contains(key) else {
            throw Report(
                .refused,
                "\(place) is signed by \(key), which is none of 'keys': refused. Sign it with the key of one of them, or first publish a slatefile that adds this key"
            )
        }
        guard key.isSignature(signature, of: Self.signedBytes(self.app, version, stage, slatefile))
        else {
            throw Report(
                .refused,
                "the signature in \(place) is wrong: refused. It was changed after it was signed, or damaged on its way: publish it again, and look who can write there"
            )
        }
        guard self.app == app else {
            throw Report(
                .refused,
                "version \(version) in \(place) is for the app '\(excerpt(self.app))', and this is '\(app)': refused. Give each app a place of its own"
            )
        }
    }

    /// The bytes of the file.
    var bytes: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("format", Self.format)
            $0.member("app", app)
            $0.member("version", version)
            $0.member("stage", stage)
            $0.member("slatefile", slatefile)
            $0.member("key", "\(key)")
            $0.member("signature", Hex.text(signature))
        }
        json.newline()
        return json.bytes
    }

    /// The bytes that are signed: those of no other envelope, and of no other protocol.
    ///
    /// Texts have their length in bytes before them, so that no text looks like what follows it.
    static func signedBytes(
        _ app: String, _ version: Int, _ stage: Int, _ slatefile: String
    ) -> [UInt8] {
        Array(
            "\(format)\napp \(app.utf8.count):\(app)\nversion \(version)\nstage \(stage)\nslatefile \(slatefile.utf8.count):\(slatefile)"
                .utf8)
    }

    /// The SHA-256 of the slatefile, in hexadecimal digits.
    var digest: String { Hex.text(SHA256.hash(data: Array(slatefile.utf8))) }

    /// The place of a host in the order in which hosts take this version, 0 to 99: it takes it if the stage is greater.
    ///
    /// The version is a part of it, so that it is not always the same hosts that try first.
    func place(of hostID: String) -> Int {
        let text = "slate-fetch stage 1\n\(app.utf8.count):\(app)\n\(version)\n\(hostID)"
        let number = SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        return Int(number % 100)
    }
}

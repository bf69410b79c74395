import Foundation
import Testing

@testable import SlateFetch

@Suite("A signed slatefile") struct EnvelopeTests {
    private func parsed(_ text: String) throws -> Envelope {
        try Envelope(parsing: Array(text.utf8), from: "'f'")
    }

    private func check(
        _ text: String, keys: [PrivateKey] = [Samples.key], app: String = "shop"
    ) throws {
        try parsed(text).check(keys: keys.map(\.publicKey), app: app, from: "'f'")
    }

    private func report(_ text: String, keys: [PrivateKey] = [Samples.key], app: String = "shop")
        -> String
    {
        do {
            try check(text, keys: keys, app: app)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func `The file has the exact text, and is accepted`() throws {
        let slatefile = "{ \"a\": \"é\\u0000\" }\r\n\t"
        let text = Samples.text(try Samples.envelope(12, stage: 10, slatefile: slatefile))
        #expect(Array(try parsed(text).slatefile.utf8) == Array(slatefile.utf8))
        #expect(report(text) == "accepted")
    }

    @Test func `The signed bytes are those of README.md`() throws {
        #expect(
            String(decoding: Envelope.signedBytes("shöp", 12, 10, "{ }\n"), as: UTF8.self)
                == "slate-fetch 1\napp 5:shöp\nversion 12\nstage 10\nslatefile 4:{ }\n")
    }

    @Test(arguments: [
        ("\"app\":\"shop\"", "\"app\":\"shoq\""), ("\"version\":12", "\"version\":13"),
        ("\"stage\":10", "\"stage\":100"), ("\"slatefile\":\"{}\"", "\"slatefile\":\"{} \""),
    ])
    func `Each member is signed`(original: String, change: String) throws {
        let text = Samples.text(try Samples.envelope(12, stage: 10))
        let changed = replace(original, by: change, in: text)
        #expect(changed != text)
        #expect(report(changed, app: "shop").hasPrefix("the signature in 'f' is wrong"))
    }

    @Test func `A signature with a wrong bit, or none, is refused`() throws {
        let envelope = try Samples.envelope(12)
        let digits = Hex.text(envelope.signature)
        let wrong = (digits.first == "0" ? "1" : "0") + digits.dropFirst()
        for other in [wrong, "", String(digits.dropLast(2)), digits + "00"] {
            let text = replace(digits, by: other, in: Samples.text(envelope))
            #expect(
                report(text)
                    == "the signature in 'f' is wrong: refused. It was changed after it was signed, or damaged on its way: publish it again, and look who can write there"
            )
        }
    }

    @Test func `Another key is refused, also under the name of a known one`() throws {
        let text = Samples.text(try Samples.envelope(12, with: Samples.otherKey))
        #expect(
            report(text)
                == "'f' is signed by \(Samples.otherKey.publicKey), which is none of 'keys': refused. Sign it with the key of one of them, or first publish a slatefile that adds this key"
        )
        let renamed = replace(
            "\(Samples.otherKey.publicKey)", by: "\(Samples.key.publicKey)", in: text)
        #expect(report(renamed).hasPrefix("the signature in 'f' is wrong"))
    }

    @Test func `While keys are exchanged, both are accepted`() throws {
        for key in [Samples.key, Samples.otherKey] {
            let text = Samples.text(try Samples.envelope(12, with: key))
            #expect(report(text, keys: [Samples.key, Samples.otherKey]) == "accepted")
        }
    }

    @Test func `Another app is refused`() throws {
        #expect(
            report(Samples.text(try Samples.envelope(12)), app: "bank")
                == "version 12 in 'f' is for the app 'shop', and this is 'bank': refused. Give each app a place of its own"
        )
    }

    @Test(arguments: [
        ("{", "'f' is not a signed slatefile: "),
        (
            "{\"format\":\"slate-fetch 2\"}",
            "'f' has the format 'slate-fetch 2', and this program reads 'slate-fetch 1': "
        ),
        ("[]", "'f' has the format ''"),
        ("{\"format\":\"slate-fetch 1\"}", "'f' is not a signed slatefile: "),
    ])
    func `Something else is not a signed slatefile`(text: String, beginning: String) {
        #expect(report(text).hasPrefix(beginning))
    }

    @Test(arguments: [
        ("\"version\":12", "\"version\":0"), ("\"version\":12", "\"version\":9223372036854775807"),
        ("\"stage\":10", "\"stage\":101"),
        ("\"stage\":10", "\"stage\":-1"), ("\"stage\":10", "\"stage\":10,\"more\":1"),
        ("\"stage\":10", "\"stage\":10,\"stage\":10"), ("ed25519:", "ed448:"),
    ])
    func `Members that are not possible are refused`(original: String, change: String) throws {
        let text = Samples.text(try Samples.envelope(12, stage: 10))
        #expect(report(replace(original, by: change, in: text)).hasPrefix("'f' is not a signed"))
    }

    @Test(arguments: [
        "{\"format\":\"slate-fetch 1\",\"\(String(repeating: "k", count: 600_000))\":1,\"app\":{}}",
        "{\"\(String(repeating: "k", count: 600_000))\":{\"a\":1,\"a\":1}}",
        "{\"format\":\"e\(String(repeating: "\u{301}", count: 400_000))\"}",
        "{\"format\":\"\(String(repeating: "f", count: 600_000))\"}",
    ])
    func `A report is short, whatever the file has`(text: String) {
        let report = report(text)
        #expect(report.hasPrefix("'f' "))
        #expect(report.contains("ublish"))
        #expect(report.unicodeScalars.count <= 400)
    }

    @Test func `A file that cannot be read is not taken for a shorter one`() {
        // Its first page is never mapped.
        let error = #expect(throws: Report.self) { try Place.file("/proc/self/mem").read() }
        #expect(error?.text == "cannot read '/proc/self/mem': Input/output error")
    }

    @Test func `A report of any length is cut`() {
        let accents = "e" + String(repeating: "\u{301}", count: 400_000)
        #expect(Report(.refused, accents).text.unicodeScalars.count == Report.limit + 1)
    }

    @Test func `A slatefile that no host accepts is not signed`() throws {
        let limit = Envelope.slatefileLimit
        let largest = String(repeating: "x", count: limit - 2)
        #expect(try Samples.envelope(1, slatefile: largest).bytes.count <= Envelope.limit)
        let error = try #require(throws: Report.self) {
            try Samples.envelope(1, slatefile: largest + "x")
        }
        #expect(
            "\(error)"
                == "the slatefile has \(limit + 1) bytes as a string of JSON; at most \(limit) are possible, since a host accepts no larger request"
        )
    }

    @Test func `A stage is a share of hosts, and other versions begin with others`() throws {
        let hosts = (0..<1000).map { "host \($0)" }
        let first = try Samples.envelope(12, stage: 10)
        let places = hosts.map(first.place)
        #expect(Set(places) == Set(0..<100))
        let early = places.filter { $0 < 10 }.count
        #expect((60...140).contains(early))
        let second = try Samples.envelope(13)
        let both = hosts.filter { first.place(of: $0) < 10 && second.place(of: $0) < 10 }.count
        #expect(both < 30)
        // It must not change from one version of this program to another.
        #expect(first.place(of: Samples.hostID) == 84)
    }
}

/// Replaces a text that is there once, if it is.
func replace(_ original: String, by change: String, in text: String) -> String {
    guard let range = text.range(of: original) else { return text }
    return text.replacingCharacters(in: range, with: change)
}

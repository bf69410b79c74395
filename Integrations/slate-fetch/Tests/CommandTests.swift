import Foundation
import ModuleHostTesting
import Testing

@testable import SlateFetch

/// The built program, with the exit codes and texts that a person sees.
@Suite("The commands", .timeLimit(.minutes(1))) struct CommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            #"{ "slate": 1, "app": "shop", "modules": [{ "command": ["slate-fetch"] }] }"#,
            to: "next.json")
    }

    private struct Outcome: Equatable {
        var code: Int32
        var output = ""
        var error = ""
    }

    private func run(_ words: String...) throws -> Outcome { try run(words) }

    private func run(_ words: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("slate-fetch")
        process.arguments = words
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        let (output, error) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        process.standardError = error
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let problem = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
            error: String(decoding: problem, as: UTF8.self))
    }

    private func permissions(_ name: String) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: folder.path(name))
        return (facts[.posixPermissions] as? Int) ?? 0
    }

    @Test func `From keys to a stage for all, and a check`() throws {
        let key = try run("keygen", "shop.key")
        #expect(key == Outcome(code: 0, output: try folder.text(of: "shop.key.pub")))
        #expect(try permissions("shop.key") == 0o600)
        #expect(
            try run(
                "sign", "next.json", "--key", "shop.key", "--version", "12", "--stage", "10",
                "--to", "shop.json")
                == Outcome(
                    code: 0,
                    output: "version 12 of 'shop' is published at stage 10 in 'shop.json'\n"))
        #expect(
            try run(
                "sign", "next.json", "--key", "shop.key", "--version", "12", "--stage", "100",
                "--to", "shop.json")
                == Outcome(
                    code: 0,
                    output: "version 12 of 'shop' is published at stage 100 in 'shop.json'\n"))
        let place = try Samples.envelope(12).place(of: Samples.hostID)
        #expect(
            try run("verify", "shop.json", "--key", "shop.key.pub", "--host", Samples.hostID)
                == Outcome(
                    code: 0,
                    output:
                        "version 12 of 'shop' is published at stage 100 in 'shop.json'\nhost \(Samples.hostID) takes it from stage \(place + 1) on\n"
                ))
        // What fills the folders of hosts is another user.
        #expect(try permissions("shop.json") == 0o644)
    }

    @Test func `No key is overwritten`() throws {
        try folder.write("public", to: "shop.key.pub")
        #expect(
            try run("keygen", "shop.key")
                == Outcome(
                    code: 73,
                    error:
                        "slate-fetch keygen: 'shop.key.pub' exists: no key is overwritten. Choose another name\n"
                ))
        #expect(!folder.names.contains("shop.key"))
    }

    @Test func `A version has one slatefile, and older ones are not published`() throws {
        _ = try run("keygen", "shop.key")
        func sign(_ version: String) throws -> Outcome {
            try run(
                "sign", "next.json", "--key", "shop.key", "--stage", "1", "--to", "shop.json",
                "--version", version)
        }
        #expect(try sign("12").code == 0)
        #expect(try sign("12").code == 0)
        #expect(
            try sign("11")
                == Outcome(
                    code: 65,
                    error:
                        "slate-fetch sign: version 12 is already published in 'shop.json': sign this one with '--version 13'\n"
                ))
        try folder.write(#"{ "app": "shop" }"#, to: "next.json")
        #expect(
            try sign("12").error
                == "slate-fetch sign: version 12 is already published in 'shop.json', with another slatefile: sign this one with '--version 13'\n"
        )
        // What is there counts only if it is signed: no other program chooses the operator's versions.
        let text = try folder.text(of: "shop.json")
        try folder.write(replace("\"version\":12", by: "\"version\":99", in: text), to: "shop.json")
        #expect(
            try sign("13").output.hasSuffix(
                "warning: the slatefile has no program 'slate-fetch': hosts that take it receive no further version\n"
            ))
    }

    @Test func `What was changed is not verified`() throws {
        let envelope = try Samples.envelope(12, stage: 0)
        try folder.write(
            replace("\"stage\":0", by: "\"stage\":100", in: Samples.text(envelope)), to: "shop.json"
        )
        let verify = try run("verify", "shop.json", "--key", "\(Samples.key.publicKey)")
        #expect(verify.code == 65)
        #expect(verify.error.hasPrefix("slate-fetch verify: the signature in 'shop.json' is wrong"))
    }

    @Test func `A private key that others may read is not used`() throws {
        _ = try run("keygen", "shop.key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.path("shop.key"))
        let sign = try run(
            "sign", "next.json", "--key", "shop.key", "--version", "1", "--stage", "1", "--to", "a")
        #expect(sign.code == 65)
        #expect(sign.error.contains("others may use 'shop.key', whose permissions are 0644"))
        #expect(!folder.names.contains("a"))
    }

    @Test(arguments: [
        (["sign"], 64, "an argument is missing; see 'slate-fetch sign --help'"),
        (["sign", "a", "--stag", "1"], 64, "--stag is unknown; the options are "),
        (
            [
                "sign", "a", "--key", "own.key", "--version", "1", "--stage", "101",
                "--to", "b",
            ], 64,
            "--stage must be a whole number from 0 to 100, not '101'"
        ),
        (["verify", "a"], 64, "--key is missing"),
        (["publish"], 64, "'publish' is not a command: those are keygen, sign, verify"),
        (["verify", "a", "--key", "no.pub"], 66, "there is no file 'no.pub'"),
        (
            ["verify", "redis://127.0.0.1:1", "--key", "a.pub", "--app", "shop"], 69,
            "cannot connect to Redis"
        ),
        (["verify", "\u{1b}[2J", "--key", "a.pub"], 66, "there is nothing at '\\u{1b}[2J'"),
    ])
    func `Errors have a code and a remedy`(words: [String], code: Int32, text: String) throws {
        try folder.write("\(Samples.key.publicKey)\n", to: "a.pub")
        _ = try run("keygen", "own.key")
        let outcome = try run(words)
        #expect(outcome.code == code)
        #expect(outcome.error.contains(text))
    }

    @Test(arguments: ["keygen", "sign", "verify"])
    func `Each command has a help of 80 columns`(name: String) throws {
        let help = try run(name, "--help")
        #expect(help.code == 0)
        #expect(help.output.hasPrefix("usage: slate-fetch \(name) "))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}

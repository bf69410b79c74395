import Foundation
import ModuleHostCore
import ModuleHostTesting
import Testing

@testable import SlateFetch

@Suite("The module in a host", .timeLimit(.minutes(1))) struct SlateFetchModuleTests {
    private static let id = "x.fetch"
    private let folder: TemporaryFolder
    private let source: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        source = try TemporaryFolder()
    }

    private func publish(_ envelope: Envelope) throws {
        try source.write(Samples.text(envelope), to: "shop.json")
    }

    /// The module, which looks at `shop.json` every 30 s.
    private func module(key: PrivateKey = Samples.key, poll: String = "30s") -> TestModule {
        TestModule(
            SlateFetchModule.self, id: Self.id,
            config:
                #"{ "source": "\#(source.path("shop.json"))", "keys": ["\#(key.publicKey)"], "poll": "\#(poll)" }"#
        )
    }

    private func run(_ body: @Sendable (TestHost) async throws -> Void) async throws {
        try await TestHost.run(
            modules: [module()], .init(folder: folder, isDurable: true), body)
    }

    private func look(_ host: TestHost, until text: String) async throws {
        // A clock that moves while the module is at work takes its deadline from it.
        try await host.settle()
        try await host.advance(by: .seconds(30))
        try await host.logged(text, by: Self.id)
    }

    @Test func `A source that is away is told once, and looked at again`() async throws {
        let missing =
            "there is nothing at '\(source.path("shop.json"))': nothing is published yet, or what fills the place is not running. Publish with 'slate-fetch sign'"
        try await run { host in
            try await host.logged(missing, by: Self.id)
            try await look(host, until: "look 2: ")
            try await look(host, until: "look 3: ")
            #expect(host.messages(of: Self.id) == [missing])
            try publish(try Samples.envelope(12, stage: 0, app: "test"))
            try await look(host, until: "version 12 is at stage 0")
            #expect(host.messages(of: Self.id).count == 2)
        }
    }

    @Test func `What is damaged, foreign or too large is told once each`() async throws {
        try source.write("{", to: "shop.json")
        try await run { host in
            try await host.logged("is not a signed slatefile", by: Self.id)
            try await look(host, until: "look 2: ")
            try publish(try Samples.envelope(12, app: "test", with: Samples.otherKey))
            try await look(host, until: "which is none of 'keys': refused")
            try publish(try Samples.envelope(12))
            try await look(host, until: "is for the app 'shop', and this is 'test': refused")
            try source.write(String(repeating: " ", count: Envelope.limit + 1), to: "shop.json")
            try await look(
                host,
                until: "it has \(Envelope.limit + 1) bytes, at most \(Envelope.limit) are expected")
            #expect(host.messages(of: Self.id).count == 4)
        }
    }

    @Test func `An old version is refused by the next host, too`() async throws {
        try publish(try Samples.envelope(12, stage: 0, app: "test"))
        try await run { host in try await host.logged("version 12 is at stage 0", by: Self.id) }
        try publish(try Samples.envelope(11, app: "test"))
        try await run { host in
            try await host.logged("version 11 is older than 12", by: Self.id)
            let status = try await host.call(Self.id, "status").json
            #expect(status["version"]?.int == 12)
            #expect(status["outcome"]?.string == "seen")
            #expect(status["isProblem"]?.bool == true)
        }
    }

    @Test func `What was seen and cannot be stored is not applied`() async throws {
        try publish(try Samples.envelope(12, app: "test"))
        try FileManager.default.createDirectory(
            atPath: folder.path("slate-fetch.json"), withIntermediateDirectories: false)
        try await run { host in
            try await host.logged("it is not a regular file. No slatefile is applied", by: Self.id)
            #expect(host.messages(of: Self.id).count == 1)
        }
    }

    @Test func `A record that cannot be written is told once, and its version applied later`()
        async throws
    {
        try publish(try Samples.envelope(12, app: "test"))
        let obstacle = folder.path("slate-fetch.json.new")
        try FileManager.default.createDirectory(
            atPath: obstacle, withIntermediateDirectories: false)
        try await run { host in
            try await host.logged(
                "No slatefile is applied until what was seen can be stored", by: Self.id)
            try await look(host, until: "look 2: ")
            #expect(host.messages(of: Self.id).count == 1)
            #expect(!folder.names.contains("slate-fetch.json"))
            try FileManager.default.removeItem(atPath: obstacle)
            try await look(host, until: "version 12 is applied, on probation")
            #expect(folder.names.contains("slate-fetch.json"))
        }
    }

    @Test func `A host that takes nothing is asked ever more seldom, and told once`() async throws {
        try publish(try Samples.envelope(12, app: "test"))
        try await run { host in
            // This host has no file that could be replaced.
            try await host.logged(
                "the host did not take version 12: this host has no slatefile", by: Self.id)
            for number in 2...10 { try await look(host, until: "look \(number): ") }
            let messages = host.messages(of: Self.id)
            #expect(messages.filter { $0.hasPrefix("the host did not take") }.count == 1)
            #expect(messages.filter { $0.hasPrefix("version 12 is applied") }.count == 1)
            // Ten looks: the first, third and seventh ask.
            let asks = host.records.filter { $0.message == "version 12 is handed to the host" }
            #expect(asks.count == 3)
            let status = try await host.call(Self.id, "status").json
            #expect(status["outcome"]?.string == "seen")
        }
    }

    @Test func `Another key is taken from a reload, an impossible setting ends the module`()
        async throws
    {
        try publish(try Samples.envelope(12, stage: 0, app: "test", with: Samples.otherKey))
        try await run { host in
            try await host.logged("which is none of 'keys': refused", by: Self.id)
            try await host.reload(modules: [module(key: Samples.otherKey)])
            try await look(host, until: "version 12 is at stage 0")
            try await host.reload(modules: [module(poll: "2h")])
            try await host.logged("'poll' must be from 1s to 1h")
        }
    }

    @Test func `All errors of the config are reported at once`() {
        let config = FetchConfiguration(
            source: "", keys: [Samples.key.secretText], poll: .milliseconds(10),
            probation: .seconds(7200), passwordFile: nil, insecure: nil)
        let error = #expect(throws: FetchSettingsError.self) {
            try FetchSettings(config, app: "shop")
        }
        #expect(
            error?.errors == [
                "'source': the place is empty: give the path of a file, or the URL of a Redis server",
                "'keys' has a private key: remove it, make a new pair with 'slate-fetch keygen', and use what its .pub file has",
                "'poll' must be from 1s to 1h",
                "'probation' must be from 1s to 1h",
            ])
    }

    @Test func `A password for a server elsewhere is not sent unencrypted`() throws {
        try source.write("secret", to: "password")
        let config = FetchConfiguration(
            source: "redis://redis.example.com", keys: ["\(Samples.key.publicKey)"], poll: nil,
            probation: nil, passwordFile: source.path("password"), insecure: nil)
        let error = #expect(throws: FetchSettingsError.self) {
            try FetchSettings(config, app: "shop")
        }
        #expect(error?.description.contains("a password would be sent unencrypted") == true)
    }
}

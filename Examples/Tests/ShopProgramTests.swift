import Foundation
import ModuleHost
import ModuleHostTesting
import Testing

/// The shop as a user of it runs it: checked, run, called and stopped by its own binary.
@Suite("The program of the shop", .timeLimit(.minutes(5)))
struct ShopProgramTests {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "Shop")

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let path = "\(#filePath)".replacing(
            "Tests/ShopProgramTests.swift", with: "Shop/slatefile.json")
        try folder.write(
            String(decoding: try readFile(at: path, limit: 1 << 20), as: UTF8.self),
            to: "slatefile.json")
    }

    /// Starts a command of the program, whose output is a pipe.
    private func start(_ arguments: String...) throws -> (Process, Pipe) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder.path)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    @Test("it is checked, run, called while a login takes its two seconds, and stopped")
    func whole() async throws {
        let (check, _) = try start("check")
        check.waitUntilExit()
        #expect(check.terminationStatus == 0)

        let (host, output) = try start("run")
        defer { host.terminate() }
        var said = ""
        while !said.contains("ready pid=") {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "the host ended before it was ready")
            said += String(decoding: more, as: UTF8.self)
        }
        let client = try HostClient(stateDirectory: folder.path(".hostd"))
        async let session = client.open("shop://login/mia")
        #expect(try await client.open("shop://price/cup").text == "7")
        #expect(try await session.text == #"{"user":"mia"}"#)
        #expect(
            try await client.open("shop://add/tea").text
                == #"{"user":"mia","items":["tea"],"total":4}"#)

        let (call, reply) = try start("open", "shop://cart")
        let text = String(decoding: reply.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        call.waitUntilExit()
        #expect(text == #"{"user":"mia","items":["tea"],"total":4}"# + "\n")
        #expect(try await client.stop()["outcome"]?.string == "stopped")
        host.waitUntilExit()
        #expect(host.terminationStatus == 0)
        #expect(try folder.text(of: ".hostd/cart.txt") == "tea\n")
    }
}

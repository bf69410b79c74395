// The tests of docs/testing-modules.md and docs/modules.md, compiled and run.

import ModuleHostCore
import ModuleHostTesting
import Testing

@Suite("GreeterModule", .timeLimit(.minutes(10)))
struct GreeterModuleTests {
    @Test("counts those who sign in")
    func counts() async throws {
        let host = try await TestHost(modules: [GreeterModule.self])
        try await host.post("user.signed-in", ["name": "Mia"])
        try await host.post("user.signed-in", ["name": "Tom"])
        #expect(
            host.messages(of: "test.greeter") == [
                "Hello, number 1; we speak Swift, English",
                "Hello, number 2; we speak Swift, English",
            ])
        #expect(await host.stop() == .stopped)
        #expect(host.messages(of: "test.greeter").last == "greeted 2")
    }

    @Test("greets as its settings say")
    func settings() async throws {
        let host = try await TestHost(modules: [
            TestModule(
                GreeterModule.self, id: "com.example.greeter",
                config: #"{ "greeting": "Welcome" }"#)
        ])
        let delivery = try await host.post("user.signed-in", ["name": "Mia"])
        #expect(delivery?.delivered == 1)
        #expect(
            host.messages(of: "com.example.greeter") == [
                "Welcome, number 1; we speak Swift, English"
            ])
    }

    @Test("a setting that is misspelt is an error before anything runs")
    func misspelt() async throws {
        let greeter = TestModule(GreeterModule.self, config: #"{ "greting": "Welcome" }"#)
        let error = await #expect(throws: SlatefileError.self) {
            try await TestHost(modules: [greeter])
        }
        #expect("\(try #require(error))".contains("did you mean 'greeting'?"))
    }

    @Test("what it misses while it is unresponsive is delivered when it returns")
    func unresponsive() async throws {
        let host = try await TestHost(modules: [GreeterModule.self])
        let stall = try await host.stall("test.greeter")
        try await host.post("user.signed-in", ["name": "Mia"])
        #expect(host.messages(of: "test.greeter").allSatisfy { !$0.contains("number 1") })
        try await stall.end()
        try await host.logged("Hello, number 1", by: "test.greeter")
    }
}

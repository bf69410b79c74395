import AppService
import Testing

@Suite("README: start-up queue", .timeLimit(.minutes(10)))
struct StartupExampleTests {
    @Test("runs everything, and nothing before what it waits for")
    func run() async throws {
        let report = try await startUp()
        #expect(report.tasks.allSatisfy { $0.outcome == .succeeded })
        #expect(report.tasks.map(\.releasedBy) == [nil, "settings", "settings", "database"])
        #expect(report.criticalChain.first?.name == "settings")
        #expect(report.criticalChain.last?.name == "thumbnails")
    }
}

// What the example calls.
func readSettings() throws {}
func openDatabase() throws {}
func logIn() async throws {}
func makeThumbnails() {}

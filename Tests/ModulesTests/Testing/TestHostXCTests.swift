import ModuleHostCore
import ModuleHostTesting
import XCTest

/// The same product under XCTest, with a host that `setUp` makes and no test stops.
final class TestHostXCTests: XCTestCase {
    final class Echo: RoutedModule {
        struct Request: Decodable, Sendable { var text: String }

        init(context: ModuleContext) {}

        static var routes: [Route<Echo>] {
            [Route("echo") { (_, request: Request, _) in request.text }]
        }
    }

    private var host: TestHost?

    override func setUp() async throws { host = try await TestHost(modules: [Echo.self]) }

    override func tearDown() { host = nil }

    func testReplies() async throws {
        let host = try XCTUnwrap(host)
        let reply = try await host.open("slate://echo?text=hello")
        XCTAssertEqual(reply.text, #""hello""#)
    }

    @MainActor
    func testOnTheMainActor() async throws {
        var texts: [String] = []
        try await TestHost.run(modules: [Echo.self]) { host in
            texts.append(try await host.open("slate://echo?text=here").text)
        }
        XCTAssertEqual(texts, [#""here""#])
    }
}

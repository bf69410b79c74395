import TestSupport
import Testing

@testable import ModuleHostCore

/// The worked cases of the dialect, from `router-cases.json`.
@Suite("Router cases")
struct RouterCasesTests {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        struct Route: Decodable, Sendable {
            let module: String
            let pattern: String
        }
        struct Expectation: Decodable, Sendable {
            let module: String?
            let pattern: String?
            let parameters: [String: [String]]?
            let error: String?
        }
        let name: String
        let schemes: [String]
        let routes: [Route]
        let url: String
        let expect: Expectation

        var testDescription: String { name }
    }

    static let cases: [Case] = {
        do {
            return try JSONValue(parsing: Inputs.bytes("router-cases.json")).decode([Case].self)
        } catch {
            Issue.record(error)
            return []
        }
    }()

    @Test("answers as the case says, whatever the order of adding", arguments: cases)
    func answer(row: Case) throws {
        for routes in [row.routes, row.routes.reversed()] {
            var table = try RouteTable(
                schemes: row.schemes, row.routes.map { ($0.module, $0.pattern) })
            for route in table.routes { table.remove(route.index) }
            for route in routes {
                try table.add(.plain(route.pattern), of: ModuleID(checked: route.module))
            }
            guard let url = try? RouteURL(row.url) else {
                #expect(row.expect.error == "malformed")
                return
            }
            let match = try table.match(url)
            #expect(match == nil ? row.expect.error == "notFound" : row.expect.error == nil)
            #expect(match?.entry.module.text == row.expect.module)
            #expect(match?.entry.route.pattern.text == row.expect.pattern)
            #expect(try table.parameters(row.url) == row.expect.parameters)
        }
    }

    @Test("are all there")
    func count() {
        #expect(Self.cases.count == 77)
    }
}

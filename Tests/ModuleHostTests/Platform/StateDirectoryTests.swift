import Testing

@testable import ModuleHostCore

@Suite("State directory")
struct StateDirectoryTests {
    struct Row: CustomTestStringConvertible {
        var option: String?
        var environment: String?
        var slatefile = "slatefile.json"
        let path: String
        var testDescription: String { "\(option ?? "-"), \(environment ?? "-"), \(slatefile)" }
    }

    static let table = [
        Row(path: ".hostd"),
        Row(slatefile: "app/slatefile.json", path: "app/.hostd"),
        Row(slatefile: "/slatefile.json", path: "/.hostd"),
        Row(slatefile: "/srv/app/slatefile.json", path: "/srv/app/.hostd"),
        Row(environment: "/var/lib/app", slatefile: "a/b", path: "/var/lib/app"),
        Row(environment: "/var/lib/a:/var/lib/b", path: "/var/lib/a"),
        Row(environment: "", path: ".hostd"),
        Row(option: "state", environment: "/var/lib/app", path: "state"),
    ]

    @Test("the option, then systemd's, then beside the slatefile", arguments: table)
    func locate(row: Row) {
        let environment = row.environment.map { ["STATE_DIRECTORY": $0] } ?? [:]
        let directory = StateDirectory(
            option: row.option, environment: environment, slatefile: row.slatefile)
        #expect(directory.path == row.path)
    }

    @Test("paths in it", arguments: [("a", "a/x"), ("a/", "a/x"), ("/", "/x")])
    func paths(folder: String, path: String) {
        #expect(StateDirectory(path: folder).path(of: "x") == path)
    }
}

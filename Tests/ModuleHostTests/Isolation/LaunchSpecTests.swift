import Testing

@testable import ModuleHostCore

@Suite("What the process of a module is given")
struct LaunchSpecTests {
    @Test("of the host's variables the common ones, those of the locale and those that are named")
    func environment() throws {
        let given = [
            "PATH": "/bin", "HOME": "/root", "USER": "mia", "LANG": "de", "TZ": "UTC",
            "TMPDIR": "/tmp", "LC_ALL": "C", "LC_TIME": "de", "SERVER": "s",
        ]
        let kept = ["HOSTD_TOKEN": "secret", "LCX": "1", "OTHER": "2"]
        let settings = ProcessSettings(
            environment: given.merging(kept, uniquingKeysWith: { first, _ in first }))
        let spec = LaunchSpec(
            ["x"], naming: ["SERVER", "ABSENT"], in: settings, for: try ModuleID("x.weather"))
        #expect(spec.environment == given)
    }
}

import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The metrics of a host", .timeLimit(.minutes(10)))
struct MetricsReadingTests {
    private func reading(_ test: HostUnderTest) -> Promise<MetricsReading?> {
        let reading = Promise<MetricsReading?>()
        test.host.readMetrics { reading.keep($0) }
        return reading
    }

    private func families(_ reading: MetricsReading) -> [String: MetricFamily] {
        Dictionary(reading.document.families.map { ($0.name, $0) }) { first, _ in first }
    }

    @Test("a host that is busy for 2 s says so, and gives what it knows without the lane")
    func busy() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let well = families(try #require(await reading(test).value))
        #expect(well["hostd_busy"]?.samples == [.init(0)])
        #expect(well["hostd_module_state"]?.samples.count == 2)

        try test.deliver(.background)
        await probe.reached("a background")
        let answer = reading(test)
        test.time.advance(by: .seconds(2))
        let busy = families(try #require(await answer.value))
        #expect(busy["hostd_busy"]?.samples == [.init(1)])
        #expect(busy["hostd_module_state"] == nil && busy["hostd_modules"] == nil)
        #expect(busy["hostd_ready_seconds"] != nil)

        // Beyond the deadline of a module the lane goes on without it.
        test.overrun()
        await probe.reached("b background")
        let hung = families(try #require(await reading(test).value))
        #expect(
            hung["hostd_module_state"]?.samples == [
                .init(1, .init("module", "x.a"), .init("state", "unresponsive")),
                .init(1, .init("module", "x.b"), .init("state", "running")),
            ])
        door.open()
        #expect(await test.stopped() == .stopped)
        #expect(await reading(test).value == nil)
    }

    @Test("start-up tasks are counted by their state")
    func tasks() async throws {
        let test = try await HostUnderTest("a", probe: Probe()).launched()
        try test.host.startup.register(StartupTask("good") {})
        try test.host.startup.register(StartupTask("bad") { throw CancellationError() })
        await test.host.startup.done(.default)
        let tasks = families(try #require(await reading(test).value))["hostd_startup_tasks"]
        let counts = (tasks?.samples ?? []).map { "\($0.labels[0].value) \(Int($0.value))" }
        #expect(counts.filter { !$0.hasSuffix(" 0") } == ["succeeded 1", "failed 1"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a thousand modules, half with processes, take less than a mebibyte; twice as many twice as much"
    )
    func size() async throws {
        let test = try await HostUnderTest("a", probe: Probe()).launched()
        func size(_ count: Int) throws -> Int {
            let process = ModuleProcessStatus(
                processID: CurrentProcess.id,
                of: LaunchSpec(["x"], naming: [], in: ProcessSettings()))
            let modules = try (0..<count).map { number in
                var status = ModuleStatus(
                    id: try ModuleID("com.example.department.module-\(10_000 + number)"),
                    entry: "x", state: .overdue, since: .now())
                status.counts = .init(deliveries: 1_000_000, time: .milliseconds(12_345))
                if number.isMultiple(of: 2) { status.process = process }
                return status
            }
            return MetricsReading(host: test.host, modules: modules, routes: nil).document.text
                .count
        }
        let (none, thousand, twice) = (try size(0), try size(1000), try size(2000))
        #expect(thousand < 1 << 20)
        #expect(Double(twice - none) < 2.01 * Double(thousand - none))
        #expect(await test.stopped() == .stopped)
    }
}

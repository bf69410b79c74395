import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("ReadinessNotifier", .timeLimit(.minutes(10)))
struct ReadinessNotifierTests {
    private let folder: TemporaryFolder
    private let manager: NotifyReceiver
    private let time = ManualTimeSource()
    private let log = LogRecorder()
    private let notifier: ReadinessNotifier

    init() throws {
        folder = try TemporaryFolder()
        manager = try NotifyReceiver(at: folder.path("notify"))
        notifier = ReadinessNotifier(
            environment: ["NOTIFY_SOCKET": manager.address], log: log.log, time: time)
    }

    private func health(_ state: LifecycleState, isReady: Bool = true) -> HostHealth {
        HostHealth(state: state, isReady: isReady, modules: 3)
    }

    /// The host is ready.
    private func launch() {
        notifier.report(health(.launching, isReady: false))
        notifier.report(health(.active))
        notifier.launched()
        #expect(
            manager.all() == ["STATUS=launching: 3 modules", "READY=1\nSTATUS=active: 3 modules"])
    }

    /// Datagrams with the instants of reloads left out.
    private var said: [String] {
        manager.all().map { text in
            text.split(separator: "\n").filter { !$0.hasPrefix("MONOTONIC_USEC=") }
                .joined(separator: "\n")
        }
    }

    private let reloading = "RELOADING=1\nSTATUS=reloading the slatefile"

    @Test("without NOTIFY_SOCKET nothing is sent, and nothing is logged", arguments: [nil, ""])
    func noSocket(address: String?) {
        var environment: [String: String] = [:]
        environment["NOTIFY_SOCKET"] = address
        let log = LogRecorder()
        let notifier = ReadinessNotifier(environment: environment, log: log.log, time: time)
        notifier.launched()
        notifier.ended(.success)
        #expect(log.messages == [])
    }

    @Test("what has not changed is not sent again")
    func unchanged() {
        launch()
        notifier.report(health(.active))
        notifier.report(health(.background))
        notifier.report(health(.background))
        #expect(said == ["STATUS=background: 3 modules"])
    }

    @Test("a reload is ready again when it has ended, with what came of it until the next one")
    func reload() {
        launch()
        notifier.reloading()
        notifier.ready(status: "reload refused:\n2\u{1B}[2J errors")
        notifier.report(health(.background))
        notifier.reloading()
        notifier.ready()
        #expect(
            said == [
                reloading,
                "READY=1\nSTATUS=active: 3 modules; reload refused: 2\\u{1b}[2J errors",
                "STATUS=background: 3 modules; reload refused: 2\\u{1b}[2J errors",
                reloading, "READY=1\nSTATUS=background: 3 modules",
            ])
    }

    @Test("of reloads that overlap the last one to end is ready")
    func overlapping() {
        launch()
        notifier.reloading()
        notifier.reloading()
        notifier.ready()
        #expect(said == [reloading, reloading])
        notifier.ready()
        #expect(said == ["READY=1\nSTATUS=active: 3 modules"])
        // One too many.
        notifier.ready()
        #expect(said == [])
    }

    @Test("a reload before READY, or in a stop, is not reported, and READY comes once")
    func reloadOutside() {
        notifier.reloading()
        notifier.ready()
        notifier.launched()
        notifier.launched()
        #expect(said == ["READY=1\nSTATUS="])
        notifier.stopping(because: "enough", within: .seconds(40))
        notifier.reloading()
        notifier.ready()
        notifier.launched()
        notifier.report(health(.terminating))
        notifier.stopping(because: "again", within: .seconds(40))
        #expect(said == ["STOPPING=1\nSTATUS=stopping: enough\nEXTEND_TIMEOUT_USEC=40000000"])
    }

    @Test("the first word on the end counts")
    func end() {
        notifier.ended(.failed, because: "a module\nfailed")
        notifier.ended(.failed)
        notifier.stopping(because: "late", within: .seconds(1))
        #expect(said == ["STATUS=failed: a module failed\nEXIT_STATUS=70"])
    }

    @Test("a socket that stays full is given up after a while, and reported once")
    func full() throws {
        let sender = try NotifySocket(to: manager.address)
        while (try? sender.send("x")) != nil {}
        notifier.launched()
        for _ in 0..<100 { notifier.ping() }
        #expect(log.messages == [])
        #expect(time.pendingAlarms == 1)
        time.advance(by: .seconds(60))
        let warning =
            "cannot notify the service manager: NOTIFY_SOCKET: "
            + "Resource temporarily unavailable"
        #expect(log.messages == [warning])
        #expect(time.pendingAlarms == 0)
        #expect(said.allSatisfy { $0 == "x" })
        // There is room again.
        notifier.ping()
        notifier.ping()
        #expect(said == ["WATCHDOG=1", "WATCHDOG=1"])
        while (try? sender.send("x")) != nil {}
        notifier.ping()
        time.advance(by: .seconds(60))
        #expect(log.messages == [warning])
    }

    @Test("what waits for room goes out in order, once there is some")
    func room() throws {
        let sender = try NotifySocket(to: manager.address)
        while (try? sender.send("x")) != nil {}
        notifier.launched()
        notifier.ping()
        notifier.ping()
        notifier.stopping(because: "enough", within: .seconds(1))
        _ = manager.all()
        #expect(manager.all() == [])
        time.advance(by: .milliseconds(100))
        #expect(
            manager.all() == [
                "READY=1\nSTATUS=", "WATCHDOG=1",
                "STOPPING=1\nSTATUS=stopping: enough\nEXTEND_TIMEOUT_USEC=1000000",
            ])
        #expect(log.messages == [])
    }
}

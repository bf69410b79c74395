import TestSupport
import Testing

@testable import ModuleHostCore

/// Row 10 of the seed systems: the app delegate's callbacks for every module, and calls by name.
@Suite("Row 10: the app's life for every module", .timeLimit(.minutes(10)))
struct Row10WTModuleLifecycleTests {
    /// A callback of the app delegate: what is delivered to bring it about.
    struct Callback: CustomTestStringConvertible {
        var kind: EventKind
        var payload: String?
        /// What else has to come before it.
        var first: EventKind?
        /// Whether starting or stopping brings it about.
        var isOfHost = false

        var testDescription: String { kind.rawValue }
    }

    static let callbacks = [
        Callback(kind: .launch, isOfHost: true),
        Callback(kind: .activate, isOfHost: true),
        Callback(kind: .notificationSettings, payload: #"{"alert": true}"#),
        Callback(kind: .pushRegistered, payload: #"{"deviceToken": "00ff"}"#),
        Callback(kind: .pushRegistrationFailed, payload: #"{"error": "no network"}"#),
        Callback(kind: .push, payload: #"{"aps": {"badge": 1}}"#),
        Callback(kind: .localNotification, payload: #"{"id": "n"}"#),
        Callback(kind: .userActivity, payload: #"{"type": "reading"}"#),
        Callback(kind: .memoryWarning),
        Callback(kind: .openURL, payload: #"{"url": "slate://x"}"#),
        Callback(kind: .shortcut, payload: #"{"type": "new"}"#),
        Callback(kind: .background),
        Callback(kind: .foreground, first: .background),
        Callback(kind: .resignActive),
        Callback(kind: .terminate, isOfHost: true),
    ]

    /// Runs an app in which a callback is brought about once, to its end.
    private func run(_ callback: Callback, _ probe: Probe, _ names: [String]) async throws {
        let test = try await HostUnderTest(names.map { .init(name: $0) }, probe: probe).launched()
        if let first = callback.first { try test.deliver(first) }
        if !callback.isOfHost { try test.deliver(callback.kind, callback.payload) }
        await test.settled()
        #expect(await test.stopped() == .stopped)
    }

    // MARK: The verbs

    @Test("every callback is in the table")
    func complete() {
        // These two are ModuleHost's own.
        let others: Set = [EventKind.configurationChanged, .message]
        let received = EventKind.allCases.filter { $0.definition.isDeclared(by: ProbeModule.self) }
        #expect(Set(Self.callbacks.map(\.kind)) == Set(received).subtracting(others))
    }

    @Test(
        "each reaches every module, in the order of the slatefile, whatever that is",
        arguments: callbacks, [["a", "b", "c"], ["c", "a", "b"]])
    func fannedOut(callback: Callback, names: [String]) async throws {
        let probe = Probe("fannedOut \(callback.kind) \(names)")
        try await run(callback, probe, names)
        let entries = probe.entries(callback.kind.rawValue)
        #expect(Array(entries.prefix(3)) == names.map { "\($0) \(callback.kind.rawValue)" })
    }

    @Test("an action of another module is performed by name, with parameters")
    func performAPI() async throws {
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b", type: "CallProbe")],
            probe: Probe()
        ).launched()
        let sum = try await test.asFirst { module in
            let parameters: RouteParameters = ["left": 40, "right": 2]
            return "\(try module.context.mediator.perform("x.b", "sum", parameters, as: Int.self))"
        }
        #expect(sum == "42")
        #expect(test.probe.entries == ["b sum"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("and with a block, which receives the outcome: once, and also of a failure")
    func performAPIWithBlock() async throws {
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b", type: "CallProbe")],
            probe: Probe()
        ).launched()
        let answered = Promise<String>()
        _ = try await test.asFirst { module in
            let mediator = module.context.mediator
            mediator.perform("x.b", "sum", ["left": 40, "right": 2]) { result in
                test.probe.note("block \((try? result.get()) ?? "failed")")
            }
            mediator.perform("x.b", "sum", ["left": 40]) { result in
                if case .failure(let error) = result { test.probe.note("block \(error)") }
                answered.keep("all")
            }
            test.probe.note("asked")
            return ""
        }
        #expect(await answered.value == "all")
        #expect(
            test.probe.entries == [
                "asked", "b sum", "block 42",
                "block parameter 'right' is missing: expected a whole number",
            ])
        #expect(await test.stopped() == .stopped)
    }

    // MARK: What breaks elsewhere

    @Test("a module that throws keeps no callback from those after it", arguments: callbacks)
    func veto(callback: Callback) async throws {
        let probe = Probe("veto \(callback.kind)")
        probe.when("b \(callback.kind.rawValue)") { _ in throw TestError() }
        try await run(callback, probe, ["a", "b", "c"])
        let entries = probe.entries(callback.kind.rawValue)
        #expect(
            Array(entries.prefix(3)) == ["a", "b", "c"].map { "\($0) \(callback.kind.rawValue)" })
    }

    @Test("one that cannot even be made keeps nothing from the others")
    func notMade() async throws {
        let probe = Probe()
        probe.when("b init") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("launch") == ["a launch", "c launch"])
        #expect(probe.entries("terminate") == ["a terminate", "c terminate"])
    }

    @Test("one that hangs in launch does not keep the others from launching")
    func hangs() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        try test.host.launch()
        await probe.reached("b launch")
        test.overrun(.seconds(20))
        await probe.reached("c launch")
        #expect(probe.entries("launch") == ["a launch", "b launch", "c launch"])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "each module replies for itself, once; the app's reply is newData, else failed, else noData",
        arguments: [
            (["noData", "noData", "noData"], "3 modules, noData"),
            (["noData", "newData", "noData"], "3 modules, newData"),
            (["failed", "noData", "noData"], "3 modules, failed"),
            (["failed", "noData", "newData"], "3 modules, newData"),
            (["throws", "noData", "noData"], "2 modules, 1 failed, failed"),
            (["throws", "failed", "newData"], "2 modules, 1 failed, newData"),
        ])
    func replies(each: [String], joint: String) async throws {
        let probe = Probe("replies \(each)")
        if each[0] == "throws" { probe.when("a push") { _ in throw TestError() } }
        let test = try await HostUnderTest(
            zip(["a", "b", "c"], each).map { name, reply in
                .init(name: name, config: reply == "throws" ? "" : #""fetch": "\#(reply)""#)
            }, probe: probe
        ).launched()
        try test.deliver(.push, #"{"aps": {"content-available": 1}}"#)
        await test.settled()
        let replies = test.recorder.records.filter { $0.event == "push" && $0.module == nil }
        #expect(replies.map(\.message) == [joint])
        #expect(await test.stopped() == .stopped)
    }

    @Test("members may come and go while a callback goes round")
    func enumeration() async throws {
        let probe = Probe()
        let going = ProbeMember("going", probe)
        let coming = ProbeMember("coming", probe)
        probe.when("b init") { $0.context.center.add(going) }
        probe.when("a background") { module in
            module.context.center.remove(going)
            module.context.center.add(coming)
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        #expect(probe.entries("background") == ["a background", "b background", "c background"])
        try test.deliver(.foreground)
        try test.deliver(.background)
        await test.settled()
        #expect(
            Array(probe.entries("background").dropFirst(3)) == [
                "a background", "coming background", "b background", "c background",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a module brings about while a callback goes round comes after it")
    func reentrant() async throws {
        let probe = Probe()
        probe.when("a memory-warning") { try $0.context.post("memory.low") }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("b message")
        #expect(
            Array(probe.entries.suffix(4)) == [
                "a memory-warning", "b memory-warning", "a message", "b message",
            ])
        #expect(await test.stopped() == .stopped)
    }
}

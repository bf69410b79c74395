import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A center of one's own")
struct OwnCenterTests {
    private protocol Responder: AnyObject {
        func receive() throws
    }

    private protocol Other: AnyObject {
        func listen()
    }

    private final class Notes {
        var all: [String] = []
    }

    private final class Listener: Responder, @unchecked Sendable {
        let name: String
        let notes: Notes
        var act: () throws -> Void = {}
        var atEnd: () -> Void = {}

        init(_ name: String, _ notes: Notes) {
            self.name = name
            self.notes = notes
        }

        deinit { atEnd() }

        func receive() throws {
            notes.all.append(name)
            try act()
        }
    }

    private final class Deaf {}

    private let notes = Notes()
    private let center = CommunicationCenter()

    private func listeners(_ names: String...) -> [Listener] {
        let all = names.map { Listener($0, notes) }
        for listener in all { center.add(listener) }
        return all
    }

    @discardableResult
    private func send() -> DeliveryReport {
        center.send(to: (any Responder).self) { try $0.receive() }
    }

    private func report(_ delivered: Int, failed: Int = 0) -> DeliveryReport {
        var report = DeliveryReport()
        report.delivered = delivered
        report.failed = failed
        return report
    }

    @Test("notifies every member that conforms, in the order of adding")
    func order() {
        let all = listeners("a", "b")
        center.add(Deaf())
        let last = listeners("c")
        center.add(all[0])
        #expect(center.count == 4)
        #expect(send() == report(3))
        #expect(notes.all == ["a", "b", "c"])
        #expect(center.send(to: (any Other).self) { $0.listen() } == report(0))
        withExtendedLifetime(last) {}
    }

    @Test("a member added by a handler is notified from the next message on")
    func add() {
        let all = listeners("a", "b")
        let new = Listener("new", notes)
        all[0].act = { [unowned center] in center.add(new) }
        #expect(send() == report(2))
        #expect(send() == report(3))
        #expect(notes.all == ["a", "b", "a", "b", "new"])
    }

    @Test("a member removed by a handler receives nothing more, not even this message")
    func remove() {
        let all = listeners("a", "b", "c")
        defer { for listener in all { listener.act = {} } }
        all[0].act = { center.remove(all[1]) }
        all[2].act = { center.remove(all[2]) }
        #expect(send() == report(2))
        #expect(send() == report(1))
        #expect(notes.all == ["a", "c", "a"])
        center.remove(all[1])
        center.remove(Deaf())
        #expect(center.count == 1)
    }

    @Test("a member removed and added again stands last, and receives the next message")
    func removeAndAdd() {
        let all = listeners("a", "b", "c")
        all[0].act = {
            center.remove(all[1])
            center.add(all[1])
        }
        #expect(send() == report(2))
        all[0].act = {}
        #expect(send() == report(3))
        #expect(notes.all == ["a", "c", "a", "c", "b"])
    }

    @Test("a member that throws is reported, and the others are notified")
    func failure() {
        var failures: [String] = []
        let center = CommunicationCenter { member, error in
            failures.append("\((member as? Listener)?.name ?? "?"): \(error)")
        }
        let all = ["a", "b", "c"].map { Listener($0, notes) }
        for listener in all { center.add(listener) }
        all[1].act = { throw TestError() }
        #expect(center.send(to: (any Responder).self) { try $0.receive() } == report(2, failed: 1))
        #expect(failures == ["b: broken"])
        #expect(notes.all == ["a", "b", "c"])
    }

    @Test("sending nests 64 deep, then it is refused; and all is well again afterwards")
    func depth() {
        let all = listeners("a")
        var refused: [DeliveryReport.Refusal?] = []
        var depth = 0
        all[0].act = {
            depth += 1
            let report = send()
            if report.refusal != nil { refused.append(report.refusal) }
        }
        send()
        #expect(depth == 64)
        #expect(refused == [.tooDeep])
        all[0].act = {}
        #expect(send() == report(1))
    }

    @Test("keeps a member until it is removed, and may be used by one that ends")
    func lifetime() {
        weak var gone: Listener?
        do {
            let listener = Listener("a", notes)
            listener.atEnd = { [center, notes] in
                notes.all.append("a ends, \(center.count) left")
                center.send(to: (any Responder).self) { try $0.receive() }
            }
            gone = listener
            center.add(listener)
        }
        let rest = listeners("b")
        send()
        #expect(gone != nil)
        if let listener = gone { center.remove(listener) }
        #expect(gone == nil)
        #expect(notes.all == ["a", "b", "a ends, 1 left", "b"])
        withExtendedLifetime(rest) {}
    }

    @Test("is the plain list that it stands for, whatever is done to it", arguments: 1...10)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let all = (0..<12).map { Listener("\($0)", notes) }
        var model: [String] = []
        for _ in 0..<400 {
            guard let one = all.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                center.add(one)
                if !model.contains(one.name) { model.append(one.name) }
            case 1:
                center.remove(one)
                model.removeAll { $0 == one.name }
            default:
                notes.all = []
                #expect(send() == report(model.count))
                #expect(notes.all == model)
            }
            #expect(center.count == model.count)
        }
    }
}

@Suite("The host's center", .timeLimit(.minutes(10)))
struct HostCenterTests {
    @Test("a message goes round in slatefile order; what throws is reported under its name")
    func order() async throws {
        let probe = Probe()
        probe.when("c memory-warning") { module in
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("x")
            }
            module.probe?.note("\(report.delivered) \(report.failed) \(report.overdue)")
        }
        probe.when("b ping") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("ping") == ["a ping", "b ping", "c ping"])
        #expect(probe.entries.contains("2 1 0"))
        let failures = test.recorder.records.filter { $0.message == "failed: broken" }
        #expect(failures.map(\.module) == ["x.b"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("members come and go in the middle of an event")
    func members() async throws {
        let probe = Probe()
        let (early, late) = (ProbeMember("early", probe), ProbeMember("late", probe))
        probe.when("a launch") { $0.context.center.add(early) }
        probe.when("c background") { module in
            module.context.center.remove(early)
            module.context.center.add(late)
        }
        probe.when("a background") { module in
            module.probe?.note("count \(module.context.center.count)")
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        try test.deliver(.foreground)
        try test.deliver(.background)
        await test.settled()
        #expect(
            probe.entries("background") == [
                "a background", "early background", "b background", "c background",
                "a background", "b background", "c background", "late background",
            ])
        #expect(probe.entries("count") == ["count 4", "count 4"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a member removed by a module before it in order does not receive the event")
    func removedOnTheWay() async throws {
        let probe = Probe()
        let extra = ProbeMember("extra", probe)
        probe.when("c init") { $0.context.center.add(extra) }
        probe.when("a background") { $0.context.center.remove(extra) }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        #expect(!probe.entries.contains("extra background"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("the members of a module go with it, before any module that was made before it")
    func goWithModule() async throws {
        let probe = Probe()
        probe.when("b init") { $0.context.center.add(ProbeMember("extra", probe)) }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(await test.stopped() == .stopped)
        let ends = probe.entries("deinit")
        #expect(ends.last == "a deinit")
        #expect(Set(ends) == ["extra deinit", "b deinit", "a deinit"])
    }

    @Test("a failed module's members receive nothing more")
    func failedModule() async throws {
        let probe = Probe()
        let extra = ProbeMember("extra", probe)
        probe.when("b init") { $0.context.center.add(extra) }
        probe.when("b launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        #expect(!probe.entries.contains("extra launch"))
        #expect(!probe.entries.contains("extra background"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("calls nest 64 deep, the event among them, then they are refused")
    func depth() async throws {
        let probe = Probe()
        probe.when("a memory-warning") { module in
            module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
        }
        probe.when("a ping") { module in
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("x")
            }
            if report.refusal == .tooDeep { module.probe?.note("refused") }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("ping").count == 63)
        #expect(probe.entries("refused").count == 1)
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("ping").count == 126)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a message from a timer's tick or a start-up result goes the same way")
    func fromTick() async throws {
        let probe = Probe()
        probe.when("b launch") { module in
            module.context.timer(after: .seconds(1)) { [unowned module] in
                module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.time.advance(by: .seconds(1))
        await test.settled()
        #expect(probe.entries("ping") == ["a ping", "b ping"])
        #expect(await test.stopped() == .stopped)
    }
}

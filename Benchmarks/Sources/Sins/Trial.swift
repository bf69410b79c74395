import Foundation
import Served

/// One host, from its start to its end, and all that is done to it.
final class Trial {
    private let plan: Plan
    private let program: String
    private let folder: URL
    private let good: SinsHost.Entry
    private let goodJournal: URL
    private var generator: SeededGenerator
    private var diagnostics: [String] = []
    /// How each sin ended, and how many times so.
    private var ends: [String: [String: Int]] = [:]
    private var reloads: [Window] = []
    /// When others may have waited for a sinner.
    private var waits: [Window] = []
    private let clock = Clock()
    private var sinners = SinnersAccount()

    init(_ plan: Plan, of program: String) throws {
        self.plan = plan
        self.program = program
        generator = SeededGenerator(seed: plan.seed)
        folder = try makeFolder(for: "sins")
        goodJournal = folder.appending(path: "journal-good")
        good = SinsHost.Entry(
            id: "bench.good", command: [program, "good", "--journal", goodJournal.path])
    }

    /// - Returns: Whether all is as it should be.
    func run() throws -> Bool {
        let names = Sin.all.filter { $0.kind != .start }.map(\.name)
        let calm =
            [good]
            + names.map {
                SinsHost.Entry(id: "calm.\($0)", command: [program, "good"])
            }
        let host = try SinsHost(calm, in: folder)
        let flow = try Flow(to: host.socket, rate: plan.rate)
        sleep(1)
        let census = try Census()
        let first = flow.count
        sleep(UInt32(plan.calm))
        let sinsBegin = flow.count

        var last: [Sinner] = []
        for round in 1...plan.rounds {
            let sinners = makeSinners(round)
            try reload(host, [good] + sinners.map(\.entry), wanting: "applied")
            try take(last, flow)
            try watch(sinners, round, host)
            last = sinners
            note("round \(round) of \(plan.rounds), \(diagnostics.count) errors")
        }
        let sinsEnd = flow.count
        try reload(host, calm, wanting: "applied")
        try take(last, flow)
        // What ends slowly ends; then as before.
        sleep(3)
        let afterBegin = flow.count
        sleep(UInt32(plan.calm))
        let afterEnd = flow.count
        flow.stop()
        if let error = flow.error { diagnostics.append(error) }
        try waitForAll(flow.count)
        let censusAfter = try Census()
        let end = try host.stop()
        if end != "success" { diagnostics.append("the host ended: \(end)") }
        let censusAtEnd = try Census()

        printEnds()
        print()
        printAccount(flow)
        print()
        compare(census, censusAfter, censusAtEnd)
        print()
        printDeliveries(flow, first..<sinsBegin, sinsBegin..<sinsEnd, afterBegin..<afterEnd)
        print()
        guard diagnostics.isEmpty else {
            print("verdict: \(diagnostics.count) errors; the log is in \(folder.path)")
            print(diagnostics.map { "    \($0)" }.joined(separator: "\n"))
            return false
        }
        print("verdict: the host went on; nothing lost, nothing left behind")
        try FileManager.default.removeItem(at: folder)
        return true
    }

    // MARK: A round

    private func makeSinners(_ round: Int) -> [Sinner] {
        Sin.all.filter { $0.kind != .start }.shuffled(using: &generator).map { sin in
            let after = Int.random(in: plan.begin, using: &generator)
            return Sinner(
                // A call comes when it comes.
                sin, round: round, after: sin.kind == .call ? 0 : after,
                program: program, in: folder, plan)
        }
    }

    /// Exchanges the modules.
    private func reload(
        _ host: SinsHost, _ entries: [SinsHost.Entry], wanting outcome: String
    ) throws {
        let began = nanoseconds()
        let reload = try host.reload(entries)
        reloads.append(Window(begin: began, end: nanoseconds() + 20_000_000))
        if reload.outcome != outcome {
            diagnostics.append("reload: \(reload.outcome): \(reload.summary ?? reload.text ?? "")")
        }
    }

    /// Looks on while they sin, and until they have recovered; meanwhile others come that cannot even start.
    private func watch(_ sinners: [Sinner], _ round: Int, _ host: SinsHost) throws {
        let begin = nanoseconds()
        var errands: [(time: Int, sin: Sin)] = Sin.all.filter { [.start, .call].contains($0.kind) }
            .map { (begin + .random(in: plan.errands, using: &generator) * 1_000_000, $0) }
            .sorted { $0.time < $1.time }
        while true {
            if let errand = errands.first, errand.time <= nanoseconds() {
                errands.removeFirst()
                if errand.sin.kind == .call {
                    try host.call("round\(round).\(errand.sin.name)", "echo")
                } else {
                    try start(errand.sin, beside: sinners, round, host)
                }
            }
            let modules = try host.modules()
            let open = errands.isEmpty ? open(sinners, modules, round) : ["errands"]
            if open.isEmpty { return note(ends: modules, sinners) }
            if nanoseconds() - begin > 60_000_000_000 {
                diagnostics.append("round \(round): after 60 s: \(open.joined(separator: ", "))")
                return note(ends: modules, sinners)
            }
            usleep(20_000)
        }
    }

    /// Has the host make a module that fails in that.
    private func start(
        _ sin: Sin, beside sinners: [Sinner], _ round: Int, _ host: SinsHost
    ) throws {
        let sinner = Sinner(sin, round: round, after: 0, program: program, in: folder, plan)
        let began = nanoseconds()
        let reload = try host.reload([good] + sinners.map(\.entry) + [sinner.entry])
        waits.append(Window(begin: began, end: nanoseconds() + 20_000_000))
        let reason = reload.summary ?? reload.text ?? ""
        ends[sin.name, default: [:]][Self.brief("\(reload.outcome): \(reason)"), default: 0] += 1
        if reload.outcome != "rolled-back" || !sinner.hasSinned {
            diagnostics.append("\(sin.name): the reload that wants it is \(reload.outcome)")
        }
        self.sinners.processes.formUnion(try sinner.takeJournal().processes)
    }

    /// What is still to come in a round.
    private func open(
        _ sinners: [Sinner], _ modules: [SinsHost.Module], _ round: Int
    ) -> [String] {
        let states = Dictionary(
            modules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return sinners.compactMap { sinner in
            guard let module = states[sinner.entry.id] else { return "\(sinner.entry.id) is gone" }
            let isDone =
                switch sinner.sin.kind {
                case .deadly, .call: sinner.hasSinned && (module.process?.restarts ?? 0) >= 1
                case .harmless: sinner.hasSinned(since: plan.floodSeconds)
                case .end, .start: true
                }
            let isWell = module.state == "running" && (module.behind ?? 0) == 0
            return isDone && isWell
                ? nil : "\(module.id) is \(module.state)\(isDone ? "" : ", and has not sinned")"
        }
    }

    private func note(ends modules: [SinsHost.Module], _ sinners: [Sinner]) {
        let sins = Dictionary(
            sinners.map { ($0.entry.id, $0.sin) }, uniquingKeysWith: { first, _ in first })
        for module in modules {
            guard let sin = sins[module.id] else { continue }
            let end = module.process?.lastEnd.map(Self.brief) ?? "with the module"
            let times = module.process?.restarts ?? 0
            ends[sin.name, default: [:]][times > 1 ? "\(end), \(times) times" : end, default: 0] +=
                1
        }
    }

    /// What happened, without what differs each time.
    private static func brief(_ end: String) -> String {
        var text = end.replacing(#/round\d+\./#, with: "").replacing(#/process \d+ /#, with: "")
        if let output = text.range(of: "; its last output was") {
            text = String(text[..<output.lowerBound])
        }
        return text.replacing(#/request \d+/#, with: "request N")
    }

    /// Reads what the removed modules have received.
    private func take(_ last: [Sinner], _ flow: Flow) throws {
        guard !last.isEmpty else { return }
        waits += last.compactMap { $0.wait(clock) }
        try sinners.take(last.map { (sinner: $0, journal: try $0.takeJournal()) }, &diagnostics)
    }

    // MARK: The end

    /// Waits until the ordinary modules have received all.
    private func waitForAll(_ count: Int) throws {
        let deadline = nanoseconds() + 30_000_000_000
        while (0..<ReceivedTicks.places).contains(where: { ReceivedTicks.count(at: $0) < count }) {
            guard nanoseconds() < deadline else { return }
            usleep(10_000)
        }
    }

    private func printEnds() {
        print("| sin | times | how it ended |")
        print("|---|---:|---|")
        for sin in Sin.all {
            let ends = ends[sin.name, default: [:]].sorted { $0.value > $1.value }
            let times = ends.map(\.value).reduce(0, +)
            if times != plan.rounds { diagnostics.append("\(sin.name): \(times) times") }
            let text = ends.map { ends.count == 1 ? $0.key : "\($0.key) (\($0.value))" }
            print("| \(sin.name) | \(times) | \(text.joined(separator: "; ")) |")
        }
    }

    private func printAccount(_ flow: Flow) {
        print(
            "| durable events | accepted | received | lost | out of order | again, and marked so |")
        print("|---|---:|---:|---:|---:|---:|")
        for place in 0..<ReceivedTicks.places {
            let record = ReceivedTicks.record(of: place)
            let received = record.times.count { $0 > 0 }
            row(
                place == 0 ? "the module in front" : "the module behind all", flow.accepted,
                received, record.disorders, 0)
        }
        let ticks = (try? Journal(goodJournal).ticks) ?? []
        let distinct = Set(ticks).count
        row(
            "an isolated module that behaves", flow.accepted, distinct,
            zip(ticks, ticks.dropFirst()).count { $0 >= $1 }, 0)
        row(
            "modules that sinned, while they were there", sinners.owed, sinners.received,
            sinners.disorders, sinners.again)
        if sinners.unmarked > 0 {
            diagnostics.append("\(sinners.unmarked) came again, not marked so")
        }
    }

    private func row(
        _ title: String, _ owed: Int, _ received: Int, _ disorders: Int, _ again: Int
    ) {
        print("| \(title) | \(owed) | \(received) | \(owed - received) | \(disorders) | \(again) |")
        if owed != received || disorders > 0 {
            diagnostics.append("\(title): \(received) of \(owed), \(disorders) out of order")
        }
    }

    private func compare(_ before: Census, _ after: Census, _ end: Census) {
        let left = sinners.processes.filter { Census.runs($0, program) }.count
        print("| the host | before | after | stopped |")
        print("|---|---:|---:|---:|")
        print("| descriptors | \(before.descriptors) | \(after.descriptors) | \(end.descriptors) |")
        print("| threads | \(before.threads) | \(after.threads) | \(end.threads) |")
        print("| RSS, MB | \(before.residentKB / 1024) | \(after.residentKB / 1024) | |")
        print("| processes of modules | \(before.children) | \(after.children) | \(end.children) |")
        print("| zombies | \(before.zombies) | \(after.zombies) | \(end.zombies) |")
        print("| processes of sinners, and their children, that still run | | \(left) | |")
        if after.descriptors > before.descriptors {
            diagnostics.append("descriptors are left open")
        }
        if after.children != before.children {
            diagnostics.append("processes are left, or missing")
        }
        if after.zombies + end.zombies > 0 { diagnostics.append("zombies are left") }
        if end.children + left > 0 { diagnostics.append("processes are left behind") }
    }

    private func printDeliveries(
        _ flow: Flow, _ before: Range<Int>, _ during: Range<Int>, _ after: Range<Int>
    ) {
        let sent = flow.sent
        var deliveries = Deliveries()
        for place in 0..<ReceivedTicks.places {
            let received = ReceivedTicks.record(of: place).times
            var last = (name: "", received: 0)
            for tick in received.indices where received[tick] > 0 {
                let begin = sent[tick]
                var name = Deliveries.others
                if before.contains(tick) {
                    name = Deliveries.calm
                } else if after.contains(tick) {
                    name = Deliveries.after
                } else if !during.contains(tick) {
                    continue
                } else if reloads.contains(where: { $0.contains(begin) }) {
                    name = Deliveries.reloads
                } else if waits.contains(where: { $0.contains(begin) }) {
                    name = Deliveries.waits
                } else if begin < last.received,
                    [Deliveries.reloads, Deliveries.waits].contains(last.name)
                {
                    // It stands in the queue that has come of it.
                    name = last.name
                }
                last = (name, received[tick])
                deliveries.add(received[tick] - begin, name)
            }
        }
        deliveries.printTable()
    }

    /// Says how far it is, where that can be read at once.
    private func note(_ line: String) {
        guard isatty(STDOUT_FILENO) == 1 else { return }
        print(line)
        fflush(nil)
    }
}

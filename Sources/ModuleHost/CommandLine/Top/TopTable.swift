import AppService

/// The table of `hostd top`: the rates between the last two samples, as lines of a given size.
struct TopTable {
    /// A column by which the rows are sorted, the largest value first; its key is its first letter.
    enum Order: String, CaseIterable {
        case events, lane, p99, behind, failures, restarts, memory, state, name

        init?(key: UInt8) {
            let letter = Character(Unicode.Scalar(key)).lowercased()
            guard let order = Self.allCases.first(where: { $0.rawValue.hasPrefix(letter) }) else {
                return nil
            }
            self = order
        }
    }

    private struct Row {
        let module: String
        let state: String
        /// The numbers of the columns; nil where there is none.
        let values: [Double?]
        let isWrong: Bool
    }

    private static let columns: [(title: String, width: Int, text: @Sendable (Double) -> String)] =
        [
            ("EV/S", 5, number), ("LANE%", 5, number), ("P99", 6, bound), ("BEHIND", 6, number),
            ("FAILED", 6, number), ("RESTARTS", 8, number), ("MEMORY", 8, size),
        ]
    private static let stateWidth = 12
    static let keys =
        "q quit | l lane e events p p99 b behind f failed r restarts m mem s state n name"
    /// The keys where there are more rows than lines.
    static let keysOfMany =
        "q quit | space more | l lane e ev p p99 b behind f fail r rest m mem s st n name"

    var order = Order.lane
    /// The number of times that the next rows were asked for; the first ones follow the last.
    var page = 0
    /// The last two samples.
    private var host: (former: TopSample?, last: TopSample?)
    /// The last two samples that have modules: a busy host leaves them out.
    private var modules: (former: TopSample?, last: TopSample?)

    /// Takes the next sample.
    mutating func take(_ sample: TopSample) {
        host = (host.last, sample)
        if !sample.modules.isEmpty { modules = (modules.last, sample) }
    }

    /// The notice about the modules if the host was busy at the last sample; else nil.
    var busyNotice: String? {
        guard host.last?["hostd_busy", nil] == 1 else { return nil }
        return "the host was busy for 2s; "
            + (modules.last == nil
                ? "try again for its modules" : "the modules are those before that")
    }

    // MARK: Lines

    /// Returns the lines: two of the host, the titles, a row for each module, and the keys where there is a height.
    ///
    /// - Parameters:
    ///   - width: The characters of a line; nil for as many as there are.
    ///   - height: The number of lines; nil for all.
    ///   - notice: What is to be known about the table, in place of the counts of modules.
    ///   - colors: Whether lines are highlighted.
    func lines(
        width: Int?, height: Int? = nil, notice: String? = nil, colors: Bool = false
    ) -> [TerminalText] {
        let rows = sortedRows
        let space = height.map { max(1, $0 - 4) } ?? max(1, rows.count)
        let pages = max(1, (rows.count + space - 1) / space)
        let shown = rows.dropFirst(page % pages * space).prefix(space)
        let longest = rows.map { clean($0.module).count }.max() ?? 0
        let others = Self.columns.reduce(1 + Self.stateWidth) { $0 + 1 + $1.width }
        let idWidth = width.map { max(6, min($0 - others, max(6, longest))) } ?? max(6, longest)
        func line(_ module: String, _ state: String, _ cells: [String]) -> String {
            zip(cells, Self.columns).reduce(
                tail(of: clean(module), idWidth).padded(to: idWidth) + " "
                    + clean(state).padded(to: Self.stateWidth)
            ) { $0 + " " + String(repeating: " ", count: max(0, $1.1.width - $1.0.count)) + $1.0 }
        }
        func fitting(_ text: String) -> String { width.map { String(text.prefix($0)) } ?? text }
        var lines: [TerminalText] = ["\(fitting(head))"]
        let counts = fitting(notice ?? self.counts(shown: shown.indices))
        lines.append(colors && notice != nil ? "\u{1B}[1;31m\(counts)\u{1B}[0m" : "\(counts)")
        let titles = fitting(line("MODULE", "STATE", Self.columns.map(\.title)))
        lines.append(colors ? "\u{1B}[7m\(titles)\u{1B}[0m" : "\(titles)")
        for row in shown {
            let cells = zip(row.values, Self.columns).map { $0.map($1.text) ?? "-" }
            let text = fitting(line(row.module, row.state, cells))
            lines.append(colors && row.isWrong ? "\u{1B}[31m\(text)\u{1B}[0m" : "\(text)")
        }
        guard let height else { return lines }
        while lines.count < height - 1 { lines.append("") }
        let keys = shown.count < rows.count ? Self.keysOfMany : Self.keys
        return lines.prefix(max(0, height - 1)) + ["\(fitting(keys))"]
    }

    private var head: String {
        guard let last = host.last else { return "top" }
        func rate(_ name: String) -> Double? { last.rate(of: name, nil, since: host.former) }
        let age = last["hostd_metrics_timestamp_seconds", nil].flatMap { now in
            last["process_start_time_seconds", nil].map { Int(min(max(0, now - $0), 1e9)) }
        }
        return [
            "\(tail(of: clean(last.app), 20)): \(clean(last.state))",
            age.map { "up \(ageText(seconds: $0))" },
            rate("hostd_events_total").map { "\(Self.number($0)) events/s" },
            last["hostd_inbox_pending_bytes", nil].map { "inbox \(Self.size($0))" },
            rate("process_cpu_seconds_total").map { "CPU \(Self.number(100 * $0))%" },
            last["process_resident_memory_bytes", nil].map(Self.size),
        ].compactMap(\.self).joined(separator: ", ")
    }

    private func counts(shown: Range<Int>) -> String {
        let states = modules.last.map { sample in sample.modules.map { sample.states[$0] ?? "" } }
        let all = states ?? []
        guard !all.isEmpty else { return "no modules" }
        let counts = Dictionary(all.map { ($0, 1) }, uniquingKeysWith: +)
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let some =
            shown.count < all.count
            ? " (\(shown.lowerBound + 1) to \(shown.upperBound) shown)" : ""
        return "\(all.count) modules\(some): "
            + parts.map { "\($0.value) \(clean($0.key))" }.joined(separator: ", ")
            + "; sorted by \(order.rawValue)"
    }

    // MARK: Rows

    private var sortedRows: [Row] {
        guard let last = modules.last else { return [] }
        let rows = last.modules.map { row($0, last) }
        // The first cases are the columns.
        let place = Order.allCases.firstIndex(of: order) ?? 0
        return rows.enumerated().sorted { one, other in
            let isEarlier = one.offset < other.offset
            let (one, other) = (one.element, other.element)
            switch order {
            case .name: return one.module < other.module
            case .state:
                if one.isWrong != other.isWrong { return one.isWrong }
                return one.state == other.state ? isEarlier : one.state < other.state
            default:
                let (left, right) = (one.values[place] ?? -1, other.values[place] ?? -1)
                return left == right ? isEarlier : left > right
            }
        }.map(\.element)
    }

    private func row(_ module: String, _ sample: TopSample) -> Row {
        func rate(_ name: String) -> Double? {
            sample.rate(of: "hostd_module_handling_seconds_\(name)", module, since: modules.former)
        }
        func value(_ name: String) -> Double? { sample["hostd_module_\(name)", module] }
        let state = sample.states[module] ?? ""
        // It is in an event, which counts at its end.
        let isBusy = state == "unresponsive"
        return Row(
            module: module, state: state,
            values: [
                rate("count"), isBusy ? 100 : rate("sum").map { 100 * $0 },
                isBusy ? .infinity : sample.slowestHundredth(of: module, since: modules.former),
                value("behind") ?? 0, value("failures_total") ?? 0, value("restarts_total"),
                value("process_resident_memory_bytes"),
            ], isWrong: state == "failed" || state == "unresponsive")
    }

    // MARK: Text

    private func clean(_ text: String) -> String { TerminalText(escaping: text).string }

    /// Returns the end of a text, which distinguishes ids.
    private func tail(of text: String, _ width: Int) -> String {
        text.count > width ? "…" + text.suffix(width - 1) : text
    }

    /// Returns a number with at most five digits and a unit.
    private static func number(_ value: Double) -> String {
        let tenths = Int((min(max(value, 0), 1e15) * 10).rounded())
        switch tenths {
        case ..<100: return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        case ..<1_000_000: return "\((tenths + 5) / 10)"
        case ..<100_000_000: return "\(tenths / 10_000)k"
        default: return "\(tenths / 10_000_000)M"
        }
    }

    /// Returns the bound of a time in seconds.
    private static func bound(_ seconds: Double) -> String {
        switch seconds {
        case ..<1: "<\(number(seconds * 1000))ms"
        case ..<1e6: "<\(number(seconds))s"
        default: "longer"
        }
    }

    private static func size(_ bytes: Double) -> String {
        let bytes = Int(min(max(bytes, 0), 1e18))
        switch bytes {
        case ..<(10 << 10): return "\(bytes) B"
        case ..<(10 << 20): return "\(bytes >> 10) KiB"
        case ..<(10 << 30): return "\(bytes >> 20) MiB"
        default: return "\(bytes >> 30) GiB"
        }
    }
}

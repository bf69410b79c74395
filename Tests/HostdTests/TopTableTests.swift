import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("The table of hostd top")
struct TopTableTests {
    private struct Module {
        var id: String
        var state = "running"
        /// The values of metrics, without `hostd_module_` in their names.
        var values: [String: Double] = [:]
        /// The buckets of the times of its handlers.
        var buckets: [(limit: String, count: Double)] = []
    }

    private func sample(
        at time: Double, start: Double = 0, events: Double = 0, more: [String: Double] = [:],
        _ modules: Module...
    ) -> TopSample {
        var document = MetricsDocument(app: "shop")
        var values: [String: Double] = [
            "process_start_time_seconds": start, "hostd_metrics_timestamp_seconds": time,
            "hostd_build_info": 1, "hostd_busy": modules.isEmpty ? 1 : 0,
            "process_cpu_seconds_total": time / 2,
            "process_resident_memory_bytes": Double(34 << 20),
            "hostd_inbox_pending_bytes": 2048,
        ]
        values.merge(more) { $1 }
        for (name, value) in values { document.add(MetricFamily(name, .gauge, "x", value)) }
        document.add(
            MetricFamily(
                "hostd_events_total", .counter, "x",
                [
                    .init(events, .init("event", "push")), .init(1, .init("event", "launch")),
                ]))
        document.add(
            MetricFamily(
                "hostd_state", .gauge, "x",
                [
                    .init(0, .init("state", "launching")), .init(1, .init("state", "active")),
                ]))
        document.add(
            MetricFamily(
                "hostd_module_state", .gauge, "x",
                modules.map { .init(1, .init("module", $0.id), .init("state", $0.state)) }))
        for name in Set(modules.flatMap(\.values.keys)) {
            document.add(
                MetricFamily(
                    "hostd_module_\(name)", .counter, "x",
                    modules.compactMap { module in
                        module.values[name].map { .init($0, .init("module", module.id)) }
                    }))
        }
        document.add(
            MetricFamily(
                "hostd_module_handling_seconds", .histogram, "x",
                modules.flatMap { module in
                    module.buckets.map {
                        .init(
                            $0.count, suffix: "_bucket", .init("module", module.id),
                            .init("le", $0.limit))
                    }
                }))
        return TopSample(JSONValue { document.write(to: &$0) } ?? .emptyObject)
    }

    private func lines(
        _ table: TopTable, width: Int? = 80, height: Int? = nil, notice: String? = nil
    ) -> [String] {
        table.lines(width: width, height: height, notice: notice).map(\.string)
    }

    @Test("rates are those between two samples; what there is not is a dash")
    func rates() {
        var table = TopTable()
        let process = ["restarts_total": 2.0, "process_resident_memory_bytes": Double(12 << 20)]
        table.take(
            sample(
                at: 100, events: 1000, Module(id: "x.a", values: ["handling_seconds_count": 100]),
                Module(id: "x.b", values: process)))
        #expect(lines(table)[0] == "shop: active, up 1m40s, inbox 2048 B, 34 MiB")
        #expect(
            lines(table)[3]
                == "x.a    running          -     -      -      0      0        -        -")
        table.take(
            sample(
                at: 102, events: 3500,
                Module(
                    id: "x.a", state: "unresponsive",
                    values: [
                        "handling_seconds_count": 2101, "handling_seconds_sum": 0.5, "behind": 7,
                        "failures_total": 3,
                    ]),
                Module(id: "x.b", values: process)))
        #expect(
            lines(table) == [
                "shop: active, up 1m42s, 1250 events/s, inbox 2048 B, CPU 50%, 34 MiB",
                "2 modules: 1 running, 1 unresponsive; sorted by lane",
                "MODULE STATE         EV/S LANE%    P99 BEHIND FAILED RESTARTS   MEMORY",
                "x.a    unresponsive  1001   100 longer      7      3        -        -",
                "x.b    running          0     0      -      0      0        2   12 MiB",
            ])
    }

    @Test(
        "P99 is the bound within which 99 of 100 events were handled since the last table",
        arguments: [
            ([100, 100, 100], "<10ms"), ([99, 100, 100], "<10ms"), ([98, 99, 100], "<300ms"),
            ([90, 98, 100], "longer"), ([0, 0, 0], "-"), ([7, 7, 7], "<10ms"),
        ])
    func slowestHundredth(counts: [Double], expected: String) {
        var table = TopTable()
        func module(_ counts: [Double]) -> Module {
            let bounds = ["0.01", "0.03", "0.1", "0.3", "1.0", "3.0", "10.0", "+Inf"]
            let last = counts[2]
            // As of a module that was never slow.
            if counts.allSatisfy({ $0 == last }) {
                return Module(id: "x.a", buckets: [("+Inf", last)])
            }
            let slow = [
                counts[0], counts[0], counts[0], counts[1], counts[1], counts[1], counts[1], last,
            ]
            return Module(id: "x.a", buckets: zip(bounds, slow).map { ($0, $1) })
        }
        table.take(sample(at: 100, module([1000, 1000, 1000])))
        #expect(
            lines(table)[3]
                == "x.a    running          -     -      -      0      0        -        -")
        table.take(sample(at: 101, module(counts.map { 1000 + $0 })))
        let cell = String(repeating: " ", count: 7 - expected.count) + expected
        #expect(
            lines(table)[3]
                == "x.a    running          0     0\(cell)      0      0        -        -")
    }

    @Test("a counter that begins again counts from 0; samples of two hosts have no rates")
    func resets() {
        var table = TopTable()
        table.take(sample(at: 100, Module(id: "x.a", values: ["handling_seconds_count": 500])))
        table.take(sample(at: 101, Module(id: "x.a", values: ["handling_seconds_count": 20])))
        #expect(lines(table)[3].hasPrefix("x.a    running         20 "))
        table.take(
            sample(at: 102, start: 101.5, Module(id: "x.a", values: ["handling_seconds_count": 30]))
        )
        #expect(lines(table)[3].hasPrefix("x.a    running          - "))
        #expect(!lines(table)[0].contains("events/s"))
        // The clock was set back.
        table.take(
            sample(at: 90, start: 101.5, Module(id: "x.a", values: ["handling_seconds_count": 40])))
        #expect(lines(table)[3].hasPrefix("x.a    running          - "))
        #expect(lines(table)[0].contains("up 0s"))
    }

    @Test("a busy host leaves the modules out: the last ones stay, with their rates")
    func busy() {
        var table = TopTable()
        table.take(sample(at: 100, Module(id: "x.a", values: ["handling_seconds_count": 0])))
        table.take(sample(at: 101, Module(id: "x.a", values: ["handling_seconds_count": 9])))
        let before = lines(table)[2...]
        table.take(sample(at: 104, events: 30))
        #expect(table.busyNotice != nil && lines(table)[2...] == before)
        #expect(lines(table)[0].contains("10 events/s"))
        #expect(lines(table, notice: "the host has ended")[1] == "the host has ended")
    }

    @Test(
        "each key sorts by its column, the largest first and otherwise in slatefile order",
        arguments: [
            ("l", "bca"), ("E", "abc"), ("b", "cab"), ("f", "bac"), ("r", "cab"), ("m", "cab"),
            ("s", "bac"), ("n", "abc"),
        ])
    func order(key: String, expected: String) throws {
        var table = TopTable()
        let modules = [
            Module(id: "x.a", values: ["handling_seconds_count": 9, "failures_total": 0]),
            Module(
                id: "x.b", state: "failed",
                values: [
                    "handling_seconds_count": 5, "failures_total": 1, "handling_seconds_sum": 2,
                ]),
            Module(
                id: "x.c",
                values: [
                    "handling_seconds_count": 1, "handling_seconds_sum": 1, "behind": 4,
                    "restarts_total": 0, "process_resident_memory_bytes": 1,
                ]),
        ]
        table.take(sample(at: 1, Module(id: "x.a")))
        table.take(sample(at: 2, modules[0], modules[1], modules[2]))
        let letter = try #require(key.utf8.first)
        table.order = try #require(TopTable.Order(key: letter))
        #expect(lines(table)[3...].map { String($0.prefix(3).suffix(1)) }.joined() == expected)
    }

    @Test("no line is longer than the screen, whose last line has the keys; ids keep their ends")
    func size() {
        var table = TopTable()
        let long = "com.example.department.warehouse.inventory-of-all-parcels"
        let modules = (0..<40).map { Module(id: "\(long)-\($0)", state: "unresponsive") }
        var former = sample(at: 1, Module(id: "x"))
        table.take(former)
        former = sample(
            at: 2,
            more: ["process_resident_memory_bytes": 1e15, "hostd_inbox_pending_bytes": 1e15],
            modules[0], modules[1], modules[2])
        table.take(former)
        #expect(TopTable.keys.count <= 80 && TopTable.keysOfMany.count <= 80)
        for (width, height) in [(80, 24), (80, 6), (40, 10), (200, 50), (20, 4), (1, 1)] {
            let all = lines(table, width: width, height: height)
            #expect(all.count == height)
            #expect(all.allSatisfy { $0.count <= width })
            let keys = height >= 7 ? TopTable.keys : TopTable.keysOfMany
            #expect(all.last == String(keys.prefix(width)))
        }
        let screen = lines(table, height: 6)
        #expect(screen[1].hasPrefix("3 modules (1 to 2 shown): 3 unresponsive"))
        #expect(screen[3].hasPrefix("…") && screen[3].contains("parcels-0 unresponsive"))
        #expect(lines(table, width: nil)[3].hasPrefix(long))
        table.page = 1
        let next = lines(table, height: 6)
        #expect(next[1].hasPrefix("3 modules (3 to 3 shown)"))
        #expect(next[3].contains("parcels-2 unresponsive"))
        // Behind the last ones come the first.
        table.page = 2
        #expect(lines(table, height: 6) == screen)
    }

    @Test("text of the host is escaped, and malformed metrics are left out")
    func hostile() throws {
        var table = TopTable()
        table.take(sample(at: 1, Module(id: "x.\u{1B}[2J", state: "\u{1B}[31m")))
        #expect(lines(table).allSatisfy { !$0.contains("\u{1B}") })
        for (one, other) in [(1e300, -1e300), (-1e300, 1e300), (.leastNonzeroMagnitude, 1e-300)] {
            var table = TopTable()
            for (time, value) in [(0, one), (.leastNonzeroMagnitude, other), (1e300, one)] {
                let values = [
                    "handling_seconds_count": value, "process_resident_memory_bytes": value,
                ]
                table.take(
                    sample(
                        at: time, start: one, events: value,
                        more: ["process_cpu_seconds_total": value],
                        Module(id: "x.a", values: values)))
                #expect(lines(table).allSatisfy { $0.count <= 80 })
            }
        }
        for text in ["[]", "{}", "null", #"[{"name": 1}, {"name": "a", "samples": [{}, 7]}]"#] {
            var table = TopTable()
            table.take(TopSample(try JSONValue(parsing: text)))
            #expect(lines(table).count == 3)
        }
    }
}

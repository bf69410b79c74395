import ModuleHostCore

/// A document of metrics in the text format of Prometheus.
///
/// Each family is written in one call, so its samples stand together below its `HELP` and `TYPE`. There are
/// no timestamps: the textfile collector rejects them.
struct PrometheusText {
    /// The type of a metric.
    enum FigureType: String {
        /// A metric that only grows, from 0 at the start.
        case counter
        /// A metric that goes up and down.
        case gauge
    }

    /// One sample of a family.
    struct Sample {
        /// The label that distinguishes it from the others of its family.
        var label: (name: String, value: String)?
        var value: Double
    }

    /// The text so far; every line has its end.
    private(set) var bytes: [UInt8] = []
    /// The label that distinguishes these metrics from those of other apps on the machine.
    private let app: String

    /// Creates a text without metrics.
    ///
    /// - Parameter app: The value of the label `app` of each sample.
    init(app: String) {
        self.app = Self.escaped(app)
        bytes.reserveCapacity(4096)
    }

    /// Writes a family.
    ///
    /// - Parameters:
    ///   - name: Its name, with its unit, and `_total` if it is a counter.
    ///   - help: Their meaning, on a line without backslashes.
    ///   - samples: The metrics; without any, nothing is written.
    mutating func family(
        _ name: String, _ type: FigureType, _ help: String, _ samples: [Sample]
    ) {
        guard !samples.isEmpty else { return }
        write("# HELP \(name) \(help)\n# TYPE \(name) \(type.rawValue)\n")
        for sample in samples {
            let label = sample.label.map { ",\($0.name)=\"\(Self.escaped($0.value))\"" } ?? ""
            write("\(name){app=\"\(app)\"\(label)} \(Self.text(of: sample.value))\n")
        }
    }

    /// Writes a family with one sample.
    mutating func family(
        _ name: String, _ type: FigureType, _ help: String, _ value: Int
    ) {
        family(name, type, help, [Sample(value: Double(value))])
    }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Returns a number in the form of Prometheus, whole ones without a fraction.
    private static func text(of value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    /// Returns the value of a label, with the three characters escaped that would end it or its line.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension PrometheusText {
    /// Creates the metrics of a host.
    ///
    /// - Parameter events: The number of received events of each kind.
    init(events: [EventKind: Int], metrics: HostMetrics, app: String) {
        self.init(app: app)
        family(
            "hostd_events_total", .counter, "Events received, by kind.",
            EventKind.allCases.map { kind in
                Sample(label: ("event", kind.rawValue), value: Double(events[kind] ?? 0))
            })
        family(
            "hostd_events_ignored_total", .counter,
            "Events that had no meaning in the state of the app.", metrics.ignored)
        family(
            "hostd_handler_failures_total", .counter, "Handlers that threw.", metrics.failures)
        family(
            "hostd_modules_unresponsive_total", .counter,
            "Times that a module became unresponsive.", metrics.timesOverdue)
        family(
            "hostd_modules", .gauge, "Modules, by state.",
            [
                Sample(label: ("status", "running"), value: Double(metrics.modulesRunning)),
                Sample(label: ("status", "failed"), value: Double(metrics.modulesFailed)),
                Sample(label: ("status", "done"), value: Double(metrics.modulesDone)),
            ])
        family(
            "hostd_state", .gauge, "1 for the state that the app is in, 0 for the others.",
            LifecycleState.allCases.map { state in
                Sample(label: ("state", state.rawValue), value: state == metrics.state ? 1 : 0)
            })
        family(
            "hostd_ready_seconds", .gauge, "From the start of the app to READY.",
            metrics.readyAfter.map { [Sample(value: $0 / .seconds(1))] } ?? [])
    }
}

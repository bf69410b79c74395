/// The metrics of a host at a moment, by their names, for `hostd top`.
struct TopSample: Sendable {
    private(set) var app = ""
    /// The state of the app.
    private(set) var state = ""
    /// The value of each metric, the sum of its samples where there are several.
    private var values: [String: Double] = [:]
    /// The modules in slatefile order; empty where the host was busy.
    private(set) var modules: [String] = []
    /// The state of each module.
    private(set) var states: [String: String] = [:]
    /// The values of each metric by module.
    private var moduleValues: [String: [String: Double]] = [:]

    /// Reads what the method `metrics` has answered; what is not there is left out.
    init(_ metrics: JSONValue) {
        for family in metrics.elements {
            guard let name = family["name"]?.string, let samples = family["samples"] else {
                continue
            }
            for sample in samples.elements {
                // Whatever a host says, differences and ratios of these are numbers.
                let value = sample["value"]?.double ?? 0
                take(name, sample["labels"], min(max(value, -1e15), 1e15))
            }
        }
    }

    private mutating func take(_ name: String, _ labels: JSONValue?, _ value: Double) {
        values[name, default: 0] += value
        let state = labels?["state"]?.string
        switch name {
        case "hostd_build_info": app = labels?["app"]?.string ?? ""
        case "hostd_state": if value == 1 { self.state = state ?? "" }
        case "hostd_module_state":
            guard let module = labels?["module"]?.string else { return }
            if states.updateValue(state ?? "", forKey: module) == nil { modules.append(module) }
        default:
            guard let module = labels?["module"]?.string else { return }
            moduleValues[name, default: [:]][module] = value
        }
    }

    /// The value of a metric, of a module where one is given; nil where there is none.
    subscript(name: String, module: String?) -> Double? {
        module.map { moduleValues[name]?[$0] } ?? values[name]
    }

    /// Returns the growth of a counter in each second since an earlier sample, of a module where one is given.
    ///
    /// - Parameter former: The earlier sample.
    /// - Returns: The rate; nil where the samples are of two hosts, or have no time between them.
    func rate(of name: String, _ module: String?, since former: TopSample?) -> Double? {
        let (start, clock) = ("process_start_time_seconds", "hostd_metrics_timestamp_seconds")
        guard let former, let now = self[clock, nil], let then = former[clock, nil], now > then,
            self[start, nil] == former[start, nil]
        else { return nil }
        let (value, before) = (self[name, module] ?? 0, former[name, module] ?? 0)
        // A counter that is smaller has begun again.
        return (value < before ? value : value - before) / (now - then)
    }
}

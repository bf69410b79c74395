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
    /// By module: the number of handlings that took at most each time in seconds, in the order of the times.
    private var handlings: [String: [(limit: Double, count: Double)]] = [:]

    /// Reads what the method `metrics` has answered; what is not there is left out.
    init(_ metrics: JSONValue) {
        for family in metrics.elements {
            guard let name = family["name"]?.string, let samples = family["samples"] else {
                continue
            }
            for sample in samples.elements {
                // Whatever a host says, differences and ratios of these are numbers.
                let value = sample["value"]?.double ?? 0
                take(
                    name + (sample["suffix"]?.string ?? ""), sample["labels"],
                    min(max(value, -1e15), 1e15))
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
        case "hostd_module_handling_seconds_bucket":
            guard let module = labels?["module"]?.string else { return }
            let limit = labels?["le"]?.string.flatMap { Double($0) } ?? .infinity
            handlings[module, default: []].append((limit, value))
        default:
            guard let module = labels?["module"]?.string else { return }
            moduleValues[name, default: [:]][module] = value
        }
    }

    /// The value of a metric, of a module where one is given; nil where there is none.
    subscript(name: String, module: String?) -> Double? {
        module.map { moduleValues[name]?[$0] } ?? values[name]
    }

    /// Returns the time within which 99 of 100 events were handled by a module since an earlier sample.
    ///
    /// - Returns: The first bound, in seconds, that is not shorter than that time; infinite for one that is longer than
    ///   all; nil where the module has handled none.
    func slowestHundredth(of module: String, since former: TopSample?) -> Double? {
        guard let former, isOfSameHost(as: former), let now = handlings[module] else { return nil }
        var before = former.handlings[module] ?? []
        // Counters that are smaller have begun again.
        if let last = now.last, last.count < before.last?.count ?? 0 { before = [] }
        // A module that was never slow has only the last bucket.
        let limits = MetricFamily.handlingBounds.map { $0 / .seconds(1) } + [.infinity]
        func count(_ buckets: [(limit: Double, count: Double)], _ limit: Double) -> Double {
            (buckets.first { $0.limit == limit } ?? buckets.last)?.count ?? 0
        }
        let counts = limits.map { count(now, $0) - count(before, $0) }
        guard let all = counts.last, all > 0 else { return nil }
        return zip(limits, counts).first { $0.1 >= 0.99 * all }?.0
    }

    private func isOfSameHost(as former: TopSample) -> Bool {
        let start = "process_start_time_seconds"
        return self[start, nil] == former[start, nil]
    }

    /// Returns the growth of a counter in each second since an earlier sample, of a module where one is given.
    ///
    /// - Parameter former: The earlier sample.
    /// - Returns: The rate; nil where the samples are of two hosts, or have no time between them.
    func rate(of name: String, _ module: String?, since former: TopSample?) -> Double? {
        let clock = "hostd_metrics_timestamp_seconds"
        guard let former, let now = self[clock, nil], let then = former[clock, nil], now > then,
            isOfSameHost(as: former)
        else { return nil }
        let (value, before) = (self[name, module] ?? 0, former[name, module] ?? 0)
        // A counter that is smaller has begun again.
        return (value < before ? value : value - before) / (now - then)
    }
}

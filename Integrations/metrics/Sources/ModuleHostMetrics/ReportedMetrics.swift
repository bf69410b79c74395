import Metrics
import ModuleHostCore

/// The counters and gauges of a backend, with the values that were given to it.
///
/// A process has one of them, as it has one backend: a module that is created again goes on with the values of the last
/// one, and so no count is reported twice.
final class ReportedMetrics: Sendable {
    static let shared = ReportedMetrics()

    private enum Instrument {
        /// The value is the last one that was read.
        case counter(Counter, Int64)
        case seconds(FloatingPointCounter, Double)
        case gauge(Gauge)
    }

    private struct Entry {
        var instrument: Instrument
        let app: String?
        let module: String?
        /// The number of the reading that had it last.
        var reading: Int

        var isGauge: Bool {
            if case .gauge = instrument { true } else { false }
        }

        /// Reports a value, and returns the entry that knows it.
        ///
        /// A counter below its last value began again: with another host in this program, or another process of its module.
        func reporting(_ value: Double, in reading: Int) -> Entry {
            var entry = self
            // Also where nothing was counted yet: the backend then has it from the beginning.
            let isNew = entry.reading == 0
            entry.reading = reading
            switch instrument {
            case .counter(let counter, let last):
                guard let value = Int64(exactly: value), isNew || value != last else {
                    return entry
                }
                counter.increment(by: value < last ? value : value - last)
                entry.instrument = .counter(counter, value)
            case .seconds(let counter, let last):
                guard isNew || value != last else { return entry }
                counter.increment(by: value < last ? value : value - last)
                entry.instrument = .seconds(counter, value)
            case .gauge(let gauge): gauge.record(value)
            }
            return entry
        }

        /// Removes the metric from the backend.
        ///
        /// A gauge is 0 before, for backends that keep the last value.
        func remove() {
            switch instrument {
            case .counter(let counter, _): counter.destroy()
            case .seconds(let counter, _): counter.destroy()
            case .gauge(let gauge):
                gauge.record(0)
                gauge.destroy()
            }
        }
    }

    private struct State {
        /// The metrics by name and labels, as the host writes them.
        var entries: [Substring: Entry] = [:]
        var readings = 0
    }

    private let factory: (any MetricsFactory)?
    private let state = Guarded(State())
    private let turn = Turn()

    /// Creates the metrics of a backend.
    ///
    /// - Parameter factory: The backend; nil for that of the process.
    init(factory: (any MetricsFactory)? = nil) { self.factory = factory }

    /// The number of metrics that are kept.
    var count: Int { state.withLock { $0.entries.count } }

    /// Reads metrics and reports them.
    ///
    /// One at a time: a text that was read earlier and comes later would look like that of another host.
    ///
    /// - Parameter read: Returns the text.
    func report(_ read: () async throws -> String) async throws {
        try await turn.take { report(try await read()) }
    }

    private func report(_ text: String) {
        let samples = MetricsText(text).samples
        state.withLock { state in
            state.readings += 1
            for sample in samples {
                // Copied: the key would keep the whole text.
                let key =
                    state.entries.index(forKey: sample.key) == nil
                    ? Substring(String(sample.key)) : sample.key
                let entry = state.entries[key] ?? newEntry(for: sample)
                state.entries[key] = entry.reporting(sample.value, in: state.readings)
            }
            removeFormer(samples, from: &state)
        }
    }

    /// Creates the metric of a sample, with nothing counted so far.
    private func newEntry(for sample: MetricsText.Sample) -> Entry {
        let labels = sample.labels
        let factory = factory ?? MetricsSystem.factory
        // Those of the process would meet those that other libraries report.
        let name = sample.name.hasPrefix("hostd_") ? String(sample.name) : "hostd_\(sample.name)"
        let instrument: Instrument =
            if !sample.isCounter {
                .gauge(Gauge(label: name, dimensions: labels, factory: factory))
            } else if ["_seconds_total", "_seconds_sum"].contains(where: name.hasSuffix) {
                .seconds(
                    FloatingPointCounter(label: name, dimensions: labels, factory: factory), 0)
            } else {
                .counter(Counter(label: name, dimensions: labels, factory: factory), 0)
            }
        return Entry(
            instrument: instrument, app: labels.first { $0.0 == "app" }?.1,
            module: labels.first { $0.0 == "module" }?.1, reading: 0)
    }

    /// Removes the metrics of a host that it no longer has: of modules that were removed, of processes that have ended, of
    /// former states.
    ///
    /// A counter stays as long as its module: that of a process goes on with the next process.
    private func removeFormer(_ samples: [MetricsText.Sample], from state: inout State) {
        func value(_ name: Substring) -> Double? { samples.first { $0.name == name }?.value }
        // The metrics of modules are left out while the host is busy.
        guard let first = samples.first, value("hostd_busy") == 0 else { return }
        let app = state.entries[first.key]?.app
        var modules: Set<String> = []
        for sample in samples where sample.name == "hostd_module_state" {
            if let module = state.entries[sample.key]?.module { modules.insert(module) }
        }
        for (key, entry) in state.entries where entry.reading < state.readings {
            guard entry.app == app else { continue }
            if !entry.isGauge, let module = entry.module, modules.contains(module) { continue }
            entry.remove()
            state.entries[key] = nil
        }
    }
}

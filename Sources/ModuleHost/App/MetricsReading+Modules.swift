/// The metrics of modules, with one sample for each: their size grows with the number of modules alone.
extension MetricsReading {
    var moduleFamilies: [MetricFamily?] {
        guard let modules else { return [] }
        return [
            MetricFamily(
                "hostd_modules", .gauge, "Modules, by state.",
                ModuleStatus.State.allCases.map { state in
                    .init(
                        Double(modules.count { $0.state == state }),
                        .init("status", state.rawValue))
                }),
            MetricFamily(
                "hostd_module_state", .gauge, "1 for the state that the module is in.",
                modules.map { .init(1, .module($0), .init("state", $0.state.rawValue)) }),
            family(
                "hostd_module_state_since_timestamp_seconds", .gauge,
                "Time since when the module is in its state, since the epoch."
            ) { $0.since.inSeconds },
            family(
                "hostd_module_behind", .gauge,
                "Events that wait for the module since it is unresponsive or has failed."
            ) { Double($0.behind ?? $0.waiting?.count ?? 0) },
            family(
                "hostd_module_waiting_calls", .gauge,
                "Calls that wait for the process of the module, or until it is made."
            ) { Double($0.calls) },
            family(
                "hostd_module_failures_total", .counter, "Handlers of the module that threw."
            ) { ($0.counts?.failures).map(Double.init) },
            MetricFamily(
                "hostd_module_handling_seconds", .histogram,
                "Times of the events that the module has handled, until its answer if that comes later.",
                modules.flatMap { module in module.counts.map { $0.samples(.module(module)) } ?? []
                }),
            family(
                "hostd_module_restarts_total", .counter,
                "Restarts of the process of the module."
            ) { ($0.process?.restarts).map(Double.init) },
        ]
    }

    /// The calls of routes, with samples only for those that were called.
    var callFamilies: [MetricFamily?] {
        let called = (routes?.routes ?? []).filter { $0.route.callCounts != (0, 0) }
        return [
            MetricFamily(
                "hostd_route_calls_total", .counter, "Calls of the route, by result.",
                called.flatMap { entry in
                    let (successes, failures) = entry.route.callCounts
                    let results = [("ok", successes), ("failed", failures)]
                    return results.map { result, count -> MetricFamily.Sample in
                        .init(
                            Double(count), .init("module", entry.module.text),
                            .init("route", entry.route.action), .init("result", result))
                    }
                })
        ]
    }

    var moduleProcessFamilies: [MetricFamily?] {
        [
            family(
                "hostd_module_process_start_time_seconds", .gauge,
                "Time at which the process of the module was started, since the epoch."
            ) { $0.runningProcess?.startedAt.inSeconds },
            family(
                "hostd_module_process_cpu_seconds_total", .counter,
                "Processor time that the process of the module has used."
            ) {
                $0.runningProcess?.processID.flatMap(ProcessUsage.init).map {
                    $0.processorTime / .seconds(1)
                }
            },
            family(
                "hostd_module_process_resident_memory_bytes", .gauge,
                "Resident memory of the process of the module."
            ) { $0.runningProcess?.processID.flatMap(residentBytes).map(Double.init) },
        ]
    }

    /// Returns the family of a value that modules have.
    ///
    /// - Parameter value: Returns the value of a module; nil if the module has none.
    private func family(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String,
        _ value: (ModuleStatus) -> Double?
    ) -> MetricFamily {
        MetricFamily(
            name, kind, help,
            (modules ?? []).compactMap { module in
                value(module).map { .init($0, .module(module)) }
            })
    }
}

extension DeliveryCounts.Counts {
    /// The samples of the times of a module's handlers.
    fileprivate func samples(_ module: MetricFamily.Label) -> [MetricFamily.Sample] {
        let bounds = MetricFamily.handlingBounds.map { "\($0 / .seconds(1))" } + ["+Inf"]
        let buckets = buckets
        // A module that was never slow has one bucket, so that the metrics of a thousand modules stay small.
        let shown = zip(bounds, buckets).suffix(slow == SIMD8() ? 1 : bounds.count)
        return shown.map { bound, count in
            .init(Double(count), suffix: "_bucket", module, .init("le", bound))
        } + [
            .init(time / .seconds(1), suffix: "_sum", module),
            .init(Double(buckets.last ?? 0), suffix: "_count", module),
        ]
    }
}

extension MetricFamily.Label {
    fileprivate static func module(_ status: ModuleStatus) -> Self {
        MetricFamily.Label("module", status.id.text)
    }
}

extension ModuleStatus {
    fileprivate var runningProcess: ModuleProcessStatus? {
        process?.processID == nil ? nil : process
    }
}

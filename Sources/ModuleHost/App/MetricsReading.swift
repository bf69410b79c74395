import AppService

/// The values of a host at a moment, of which its metrics are made off the lane.
package struct MetricsReading: Sendable {
    let host: AppHost
    /// The status of each enabled module; nil if the lane was not free in time.
    let modules: [ModuleStatus]?
    /// The routes; nil as the modules, and before READY.
    let routes: RouteTable?

    /// The document of the metrics.
    ///
    /// Asks the system about processes, and reads the oldest event of the inbox: not for the lane, nor for the
    /// thread of the control socket.
    package var document: MetricsDocument {
        var document = MetricsDocument(app: host.slatefile.app)
        let metrics = host.currentMetrics
        let parts = [
            writingFamilies, processFamilies, stateFamilies(metrics), eventFamilies(metrics),
            moduleFamilies, moduleProcessFamilies, callFamilies, inboxFamilies,
        ]
        for family in parts.joined() { document.add(family) }
        return document
    }

    // MARK: The host

    private var writingFamilies: [MetricFamily?] {
        let now = WallTime.now()
        return [
            MetricFamily(
                "hostd_build_info", .gauge, "1, with the version of ModuleHost as a label.",
                [.init(1, .init("version", HostVersion.current))]),
            MetricFamily(
                "hostd_metrics_timestamp_seconds", .gauge,
                "Time at which these metrics were written, since the epoch.", now.inSeconds),
        ]
    }

    private func stateFamilies(_ metrics: HostMetrics) -> [MetricFamily?] {
        [
            MetricFamily(
                "hostd_state", "1 for the state that the app is in, 0 for the others.",
                state: metrics.state),
            MetricFamily(
                "hostd_state_since_timestamp_seconds", .gauge,
                "Time since when the app is in its state, since the epoch.",
                ifKnown: metrics.stateSince?.inSeconds),
            MetricFamily(
                "hostd_ready_seconds", .gauge, "From the start of the app to READY.",
                ifKnown: metrics.readyAfter.map { $0 / .seconds(1) }),
            MetricFamily(
                "hostd_busy", .gauge,
                "1 if the host was busy for 2 s, so that the metrics of modules are left out.",
                modules == nil ? 1 : 0),
            MetricFamily(
                "hostd_startup_tasks", .gauge, "Start-up tasks, by state.", taskSamples),
        ]
    }

    private func eventFamilies(_ metrics: HostMetrics) -> [MetricFamily?] {
        let events = metrics.events
        return [
            MetricFamily(
                "hostd_events_total", .counter, "Events delivered, by kind.",
                EventKind.allCases.map {
                    .init(Double(events[$0] ?? 0), .init("event", $0.rawValue))
                }),
            MetricFamily(
                "hostd_events_ignored_total", .counter,
                "Events that had no meaning in the state of the app.", metrics.ignored),
            MetricFamily(
                "hostd_handler_failures_total", .counter, "Handlers that threw.", metrics.failures),
            MetricFamily(
                "hostd_modules_unresponsive_total", .counter,
                "Times that a module became unresponsive.", metrics.timesOverdue),
        ]
    }

    /// The metrics of the host's process, under the names and texts of Prometheus' own clients: the node
    /// exporter refuses a family of the same name with another text.
    private var processFamilies: [MetricFamily?] {
        let process = CurrentProcess.id
        return [
            MetricFamily(
                "process_start_time_seconds", .gauge,
                "Start time of the process since unix epoch in seconds.",
                ifKnown: processStart?.inSeconds),
            MetricFamily(
                "process_cpu_seconds_total", .counter,
                "Total user and system CPU time spent in seconds.",
                ifKnown: ProcessUsage(ofProcess: process).map { $0.processorTime / .seconds(1) }),
            MetricFamily(
                "process_resident_memory_bytes", .gauge, "Resident memory size in bytes.",
                ifKnown: residentBytes(ofProcess: process).map(Double.init)),
        ]
    }

    private var taskSamples: [MetricFamily.Sample] {
        var counts = [Int](repeating: 0, count: 6)
        for task in host.startup.report().tasks {
            let place =
                switch task.outcome {
                case nil: task.started == nil ? 0 : 1
                case .succeeded: 2
                case .failed: 3
                case .overdue: 4
                case .skipped: 5
                }
            counts[place] += 1
        }
        return zip(["waiting", "running", "succeeded", "failed", "overdue", "skipped"], counts)
            .map { .init(Double($1), .init("state", $0)) }
    }

    // MARK: The inbox

    private var inboxFamilies: [MetricFamily?] {
        guard let inbox = host.inbox else { return [] }
        let metrics = inbox.currentFigures(with: host.gate.lane)
        let oldest = metrics.pendingBytes > 0 ? metrics.position : nil
        return [
            MetricFamily(
                "hostd_inbox_pending_bytes", .gauge,
                "Bytes of the inbox that are not delivered to every module.", metrics.pendingBytes),
            MetricFamily(
                "hostd_inbox_oldest_event_timestamp_seconds", .gauge,
                "Time of the oldest event that is not delivered to every module, since the epoch.",
                ifKnown: oldest.flatMap(inbox.folder.time(ofEventAt:))?.inSeconds),
            MetricFamily(
                "hostd_inbox_accepted_total", .counter, "Events that the host accepted.",
                metrics.accepted),
            MetricFamily(
                "hostd_inbox_delivered_total", .counter,
                "Events that the host has delivered to every module.", metrics.done),
            MetricFamily(
                "hostd_inbox_dead_letters_total", .counter,
                "Events that the host has moved to the dead letters.", metrics.rejected),
            MetricFamily(
                "hostd_inbox_duplicates_total", .counter,
                "Events that were not delivered since their id was known.", metrics.duplicates),
            MetricFamily(
                "hostd_inbox_problem", .gauge, "1 if the inbox cannot do its work, else 0.",
                metrics.problem == nil ? 0 : 1),
        ]
    }
}

/// The start of this process, which must not seem to move with the clock.
private let processStart = ProcessUsage(ofProcess: CurrentProcess.id)?.start(at: .now())

extension WallTime {
    /// The time in seconds since 1970.
    var inSeconds: Double { Double(seconds) + Double(nanoseconds / 1_000_000) / 1000 }
}

extension AppHost {
    /// The longest wait for the lane.
    private static let patience: Duration = .seconds(2)

    /// Reads the values of the metrics.
    ///
    /// - Parameter completion: Called once, on the lane or any other thread; with nil if the app has ended.
    func readMetrics(_ completion: @escaping @Sendable (MetricsReading?) -> Void) {
        read(within: Self.patience, first: true) {
            ($0.moduleStatuses, $0.calls?.table)
        } _: { [self] result in
            switch result {
            case .success((let modules, let routes)):
                completion(MetricsReading(host: self, modules: modules, routes: routes))
            case .failure(.busy):
                completion(MetricsReading(host: self, modules: nil, routes: nil))
            case .failure(.ended): completion(nil)
            }
        }
    }

    /// Reads all metrics, and passes their document on: once, off the lane; nil if the app has ended.
    func readMetricsDocument(_ completion: @escaping @Sendable (MetricsDocument?) -> Void) {
        readMetrics { [workers] reading in
            workers.run { completion(reading?.document) }
        }
    }
}

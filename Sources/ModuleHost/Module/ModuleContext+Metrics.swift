extension ModuleContext {
    /// The source of all metrics of the host and its modules, for work off the lane.
    ///
    /// Throws ``NoHostMetrics`` in a process of the module's own.
    ///
    /// ```swift
    /// try context.perform("metrics") { [source = try context.metricsSource] in
    ///     try writeFile(await source.text().utf8, to: path)
    /// }
    /// ```
    public var metricsSource: MetricsSource {
        get throws(NoHostMetrics) {
            guard !host.services.isChildProcess else { throw NoHostMetrics() }
            return MetricsSource(services: host.services)
        }
    }
}

/// The error for a module in a process of its own, which knows the metrics of that process alone.
public struct NoHostMetrics: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error with the remedy.
    public var description: String {
        "the metrics are those of the host, which a process of its own cannot read; remove "
            + "'isolation' from this module's entry"
    }
}

/// A source of all metrics of a host and its modules.
public struct MetricsSource: Sendable {
    fileprivate let services: HostServices

    /// Returns the metrics in the text format of Prometheus, as `hostd metrics` prints them.
    ///
    /// Of a host that is busy for 2 s, without the metrics of modules.
    ///
    /// - Thread: Any but the lane, which this waits for.
    /// - Parameter heartbeat: The longest time until the text is replaced, where it is kept: it is said in it. Nil
    ///   where that is not known.
    /// - Returns: The text.
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    public func text(heartbeat: Duration? = nil) async throws -> String {
        let document = await withCheckedContinuation { continuation in
            services.readMetrics { continuation.resume(returning: $0) }
        }
        guard var document else { throw RouteError.stopped }
        document.add(
            MetricFamily(
                "hostd_metrics_heartbeat_seconds", .gauge,
                "Longest time between two writes of the metrics.",
                ifKnown: heartbeat.map { $0 / .seconds(1) }))
        return String(decoding: document.text, as: UTF8.self)
    }
}

extension ModuleContext {
    /// The source of all metrics of the host, for code off the lane.
    package var metricsSource: MetricsSource { MetricsSource(services: host.services) }
}

/// A source of all metrics of a host.
package struct MetricsSource: Sendable {
    fileprivate let services: HostServices

    /// Reads the metrics; nil if the app has ended.
    ///
    /// Not for the lane, which it waits for.
    package func document() async -> MetricsDocument? {
        await withCheckedContinuation { continuation in
            services.readMetrics { continuation.resume(returning: $0) }
        }
    }
}

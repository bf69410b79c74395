public import ModuleHostCore

/// A module that gives the metrics of its host to the backend of swift-metrics.
///
/// It reads what `hostd metrics` prints, when the app has launched, then at each `interval`, and with `terminate`, and sets
/// counters and gauges of the same names. Between two readings it does nothing.
///
/// | setting | | default |
/// |---|---|---|
/// | `interval` | the time between two readings | `15s` |
///
/// - Thread: The backend is used on a worker thread of the host, and must not block it.
/// - Order: With `terminate` the modules before this one in the slatefile have received it already.
/// - Failure: In a process of its own it cannot be created, since the metrics are those of the host (``NoHostMetrics``).
public final class MetricsExporter: LaunchResponder, TerminationResponder, ConfiguredModule {
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let interval: Duration?
    }

    private let context: ModuleContext
    private let source: MetricsSource
    private let interval: Duration
    /// The timer of the next reading; nil while one is in progress.
    private var next: ModuleTimer?
    /// The number of readings that have begun.
    private var readings = 0
    /// Whether the last reading has failed, which was logged.
    private var isFailing = false

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, its timer, and the host's metrics.
    /// - Throws: ``JSONError`` where the settings are not valid; ``NoHostMetrics`` in a process of its own.
    public init(context: ModuleContext) throws {
        self.context = context
        source = try context.metricsSource
        interval = try context.config(Configuration.self).interval ?? .seconds(15)
    }

    /// Reads the metrics for the first time.
    ///
    /// - Parameter launch: The reason of the launch.
    public func didFinishLaunching(_ launch: Launch) { report() }

    /// Reads the metrics for the last time; the stop waits for it.
    public func willTerminate() {
        next?.cancel()
        read(isLast: true)
    }

    /// Reads the metrics, and again after the interval.
    private func report() {
        next = nil
        read(isLast: false)
    }

    private func read(isLast: Bool) {
        readings += 1
        do {
            try context.perform("metrics", holding: isLast) { [source] in
                // A reload may replace this module while it reads: the former values are the same for both.
                try await ReportedMetrics.shared.report { try await source.text() }
            } then: {
                self.ended(nil, isLast)
            } failed: { error in
                self.ended(error, isLast)
            }
        } catch {
            ended(error, isLast)
        }
    }

    /// Notes the end of a reading.
    private func ended(_ error: (any Error)?, _ isLast: Bool) {
        if let error, !isFailing || isLast {
            context.log.error("the metrics were not read: \(error)")
        } else if error == nil, isFailing {
            context.log.notice("the metrics are read again")
        }
        isFailing = error != nil
        let due = isLast ? "the last one" : "the next one is due in \(interval)"
        if !isLast { next = context.timer(after: interval) { self.report() } }
        if error == nil {
            context.log.debug("reading \(readings) of the metrics is done, \(due)")
        }
    }
}

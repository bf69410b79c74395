public import ModuleHostCore

/// A module that writes the host's metrics to a file for the textfile collector of Prometheus' node exporter.
///
/// It counts the events that it receives, by kind, so give it a place before modules that claim some. The
/// other metrics are the host's own. The file is replaced as a whole, atomically; its first version is
/// written when the app is ready and idle, its last one with `terminate`.
///
/// In between it is written only after an event, and at most once per interval: an app without events is not
/// woken.
///
/// | setting | | default |
/// |---|---|---|
/// | `file` | the file; relative to the state directory | `hostd.prom` |
/// | `interval` | the maximum age of the metrics in the file | `15s` |
public final class MetricsModule: EveryEventResponder, ConfigurationResponder,
    TerminationResponder, ConfiguredModule
{
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let file: OutputPath?
        let interval: Duration?
    }

    private let context: ModuleContext
    private var configuration: Configuration
    private var events: [EventKind: Int] = [:]
    /// Whether the app is ready, so that the file is kept up to date.
    private var isReady = false
    /// The timer of the next write, where there are new metrics.
    private var nextWrite: ModuleTimer?
    /// Whether the last write failed, which was reported.
    private var isFailing = false

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, its timers, and the host's metrics.
    /// - Throws: ``JSONError`` where the settings are not valid.
    public init(context: ModuleContext) throws {
        self.context = context
        configuration = try context.config()
        // There is no work off the lane: only the moment matters.
        try context.startup("first-write", priority: .low) {
        } then: {
            self.isReady = true
            self.write()
        }
    }

    /// Counts an event, and schedules a write of the file.
    ///
    /// - Parameter kind: The kind of event.
    public func didHear(_ kind: EventKind) {
        events[kind, default: 0] += 1
        guard isReady, nextWrite == nil else { return }
        nextWrite = context.timer(after: configuration.interval ?? .seconds(15)) {
            self.nextWrite = nil
            self.write()
        }
    }

    /// Applies new settings, from the next write on.
    ///
    /// - Parameter change: The current settings.
    /// - Throws: ``JSONError`` where they are not valid; the old ones then stay in effect.
    public func configurationDidChange(_ change: ConfigurationChange) throws {
        didHear(.configurationChanged)
        configuration = try context.config()
    }

    /// Writes the last metrics.
    public func willTerminate() {
        didHear(.terminate)
        nextWrite?.cancel()
        write()
    }

    /// Writes the file; a failure is reported once, and the next write tries again.
    private func write() {
        let path = configuration.file ?? OutputPath("hostd.prom")
        let text = PrometheusText(
            events: events, metrics: context.hostMetrics, app: context.app)
        do throws(FileError) {
            try writeFile(text.bytes, to: path.absolute(in: context.stateDirectory))
            if isFailing { context.log.notice("the figures are written again") }
            isFailing = false
        } catch {
            if !isFailing { context.log.error("\(OutputFileError(error))") }
            isFailing = true
        }
    }
}

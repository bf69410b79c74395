public import ModuleHost

/// Writes the host's metrics to a file for the textfile collector of Prometheus' node exporter.
///
/// It counts the events that it hears, by kind, so give it a place before modules that claim some.
/// The other metrics are the host's own. The file is replaced whole, at one instant; its first
/// version comes when the app is ready and idle, its last one with `terminate`.
///
/// In between it is written only after something happened, and at most once per interval: an app to
/// which nothing happens is not woken.
///
/// | setting | | default |
/// |---|---|---|
/// | `file` | the file; relative to the state directory | `hostd.prom` |
/// | `interval` | how old the metrics in the file may be | `15s` |
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
    /// The next write, where there is something new to write.
    private var nextWrite: ModuleTimer?
    /// Whether the last write failed, which was reported.
    private var isFailing = false

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, its timers, and the host's metrics.
    /// - Throws: ``JSONError`` where the settings are not what they should be.
    public init(context: ModuleContext) throws {
        self.context = context
        configuration = try context.config()
        // There is nothing to do off the lane: it is the moment that counts.
        try context.startup("first-write", priority: .low) {
        } then: {
            self.isReady = true
            self.write()
        }
    }

    /// Counts an event, and sees to it that the file will tell.
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

    /// Takes new settings; they hold from the next write on.
    ///
    /// - Parameter change: The settings that hold now.
    /// - Throws: ``JSONError`` where they are not what they should be; the old ones then hold.
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

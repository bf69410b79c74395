public import ModuleHostCore

/// A module that keeps the host's metrics in a file for the textfile collector of Prometheus' node exporter.
///
/// The file has what `hostd metrics` prints. It is replaced as a whole, atomically, the first time when the app
/// is ready and idle, and removed with `terminate`: after the death of the host the former file remains, with
/// the time at which it was written.
///
/// Without a `heartbeat` it is written only after an event, and at most once per interval: an app without events
/// is not woken. Give the module a place before modules that claim events.
///
/// | setting | | default |
/// |---|---|---|
/// | `file` | the file; relative to the state directory | `hostd.prom` |
/// | `interval` | the maximum age of the metrics in the file after an event | `15s` |
/// | `heartbeat` | the maximum age of the metrics in the file | none |
public final class MetricsModule: EveryEventResponder, ConfigurationResponder,
    TerminationResponder, ConfiguredModule
{
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let file: OutputPath?
        let interval: Duration?
        let heartbeat: Duration?
    }

    private let context: ModuleContext
    private let source: MetricsSource
    private let file = MetricsFile()
    private var configuration: Configuration
    /// Whether the app is ready, so that the file is kept up to date.
    private var isReady = false
    /// Whether a write is in progress.
    private(set) var isWriting = false
    /// The timer of the next write after an event, where there was one.
    private var nextWrite: ModuleTimer?
    /// The timer of the next write without an event.
    private var nextBeat: ModuleTimer?
    /// Whether the last write failed, which was reported.
    private var isFailing = false
    /// Called after each write.
    var onWrite: (() -> Void)?

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, its timers, and the host's metrics.
    /// - Throws: ``JSONError`` where the settings are not valid; ``NoHostMetrics`` in a process of its own.
    public init(context: ModuleContext) throws {
        self.context = context
        source = try context.metricsSource
        configuration = try context.config()
        // There is no work off the lane: only the moment matters.
        try context.startup("first-write", priority: .low) {
        } then: {
            self.isReady = true
            self.write()
        }
    }

    /// Schedules a write of the file.
    ///
    /// - Parameter kind: The kind of event.
    public func didHear(_ kind: EventKind) { scheduleWrite() }

    private func scheduleWrite() {
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
        scheduleWrite()
        configuration = try context.config()
        if isReady { scheduleBeat() }
    }

    /// Removes the file: the host ends in good order.
    ///
    /// - Throws: ``FileError`` where the file cannot be removed.
    public func willTerminate() throws {
        nextWrite?.cancel()
        nextBeat?.cancel()
        try file.remove()
    }

    /// Writes the file, off the lane; a failure is reported once, and the next write tries again.
    private func write() {
        guard !isWriting else { return scheduleWrite() }
        let path = (configuration.file ?? OutputPath("hostd.prom"))
            .absolute(in: context.stateDirectory)
        let heartbeat = configuration.heartbeat
        isWriting = true
        do {
            try context.perform("metrics") { [file, source] in
                let text = try await source.text(heartbeat: heartbeat)
                do throws(FileError) { try file.write(text.utf8, to: path) } catch {
                    throw OutputFileError(error)
                }
            } then: {
                self.wrote(nil)
            } failed: { error in
                self.wrote(error)
            }
        } catch {
            wrote(error)
        }
    }

    /// Notes the end of a write.
    private func wrote(_ error: (any Error)?) {
        isWriting = false
        if let error, !isFailing {
            context.log.error("\(error)")
        } else if error == nil, isFailing {
            context.log.notice("the figures are written again")
        }
        isFailing = error != nil
        scheduleBeat()
        onWrite?()
    }

    /// Begins the time to the next write without an event.
    private func scheduleBeat() {
        nextBeat?.cancel()
        nextBeat = configuration.heartbeat.map { heartbeat in
            context.timer(after: heartbeat) { self.write() }
        }
    }
}

import Dispatch
public import ModuleHostCore

/// A module that looks for a signed slatefile, and has its host apply it on probation.
///
/// It never ends because the place is away: each thing that is wrong is logged once, and looked at again.
public final class SlateFetchModule: RunningModule, RoutedModule, ConfigurationResponder {
    /// The things that happen to the module.
    private enum Wake: Sendable {
        case tick
        case read(Result<[UInt8], Report>)
        case invalid(any Error)
    }

    private let context: ModuleContext
    private var settings: FetchSettings
    private let hostID: String
    private var file: RecordFile
    private let (wakes, wake) = AsyncStream.makeStream(of: Wake.self)
    private var timer: ModuleTimer?
    /// Reads the place, which may take long, off the lane.
    private let reading = DispatchQueue(label: "SlateFetch.reading")
    private var isReading = false
    /// Whether the record has noted that this process begins.
    private var hasStarted = false
    private var isApplying = false
    /// The version that the host did not take, how often, and the ticks until it is asked again.
    private var refused = (version: 0, count: 0, ticks: 0)
    private var last: Report?
    private var looks = 0

    /// Reads the settings; the place is not needed for that.
    ///
    /// - Parameter context: The module's settings, its log, and the host.
    /// - Throws: An error that names all settings that are not valid, or if the host has no id.
    public init(context: ModuleContext) throws {
        settings = try FetchSettings(context.config(), app: context.app)
        guard let hostID = context.hostID else { throw NoHostID() }
        self.hostID = hostID
        self.context = context
        file = RecordFile(context.stateDirectory + "/slate-fetch.json")
    }

    /// The route `status`, for operators: the newest version and its outcome.
    ///
    /// It is public, since an operator has no token.
    public static var routes: [Route<SlateFetchModule>] {
        [
            Route("status", access: .public, summary: "The version that was seen, and its outcome.")
            {
                (module, call) in module.status
            }
        ]
    }

    /// Looks for a slatefile now and then, until the module is unloaded.
    ///
    /// - Parameter isolation: The isolation of the module.
    /// - Throws: The error of a changed `config` that is not valid.
    public func run(isolation: isolated any Actor) async throws {
        beginTimer()
        wake.yield(.tick)
        for await each in wakes {
            switch each {
            case .tick: look()
            case .read(let result):
                isReading = false
                take(result)
            case .invalid(let error): throw error
            }
        }
    }

    /// Goes on with other settings in the same process, which receives the outcome of a version that has changed them.
    ///
    /// If they are not valid the process ends, so that the host takes that version back.
    ///
    /// - Parameter change: Not used: the context has the settings.
    public func configurationDidChange(_ change: ConfigurationChange) {
        do {
            settings = try FetchSettings(context.config(), app: context.app)
            beginTimer()
        } catch {
            wake.yield(.invalid(error))
        }
    }

    private func beginTimer() {
        timer?.cancel()
        timer = context.timer(every: settings.poll) { [wake] in wake.yield(.tick) }
    }

    private func look() {
        refused.ticks -= 1
        guard !isApplying else { return }
        guard !isReading else {
            return say(
                Report(
                    .away,
                    "\(settings.place) has not answered since the last look: is its mount or network gone?"
                ))
        }
        isReading = true
        reading.async { [wake, place = settings.place] in
            wake.yield(.read(Result { () throws(Report) in try place.read() }))
        }
    }

    private func take(_ result: Result<[UInt8], Report>) {
        guard !isApplying else { return }
        do throws(Report) {
            var record = try file.read()
            let former = record
            if !hasStarted { record.start() }
            if record != former { try record.write(to: file.path) }
            hasStarted = true
            let place = "\(settings.place)"
            let envelope = try Envelope(parsing: result.get(), from: place)
            try envelope.check(keys: settings.keys, app: context.app, from: place)
            let known = record
            let step = try record.next(envelope, hostID: hostID)
            if record != known { try record.write(to: file.path) }
            switch step {
            case .nothing(let report): say(report)
            case .apply: try apply(envelope, record)
            }
        } catch {
            say(error)
        }
    }

    private func apply(_ envelope: Envelope, _ former: FetchRecord) throws(Report) {
        let version = envelope.version
        if refused.version != version { refused = (version, 0, 0) }
        guard refused.ticks <= 0 else {
            if let last { say(last) }
            return
        }
        var record = former
        record.apply()
        try record.write(to: file.path)
        isApplying = true
        if refused.count == 0 {
            context.log.notice(
                former.outcome == .trying
                    ? "version \(version) was on probation when the last process ended: its outcome is looked for"
                    : "version \(version) is applied, on probation for \(settings.probation), at stage \(envelope.stage), signed by \(envelope.key)"
            )
        }
        context.log.debug("version \(version) is handed to the host")
        context.host.apply(slatefile: envelope.slatefile, probation: settings.probation) { result in
            self.isApplying = false
            do throws(Report) {
                try self.applied(version, former, result)
            } catch {
                self.say(error)
            }
        }
    }

    private func applied(
        _ version: Int, _ former: FetchRecord, _ result: Result<SlatefileChange, SlatefileRefusal>
    ) throws(Report) {
        var record = former
        switch result {
        case .success(let change):
            record.keep()
            try file.store(record)
            say(
                Report(
                    .progress,
                    "version \(version) is in effect, and kept: \(change.summary)"))
        case .failure(.undone(let reason)):
            record.rollBack(reason)
            try file.store(record)
            say(FetchRecord.rolledBack(version, reason))
        case .failure(.stopped): break
        case .failure(let refusal):
            try file.store(record)
            refused.count += 1
            // The version itself may have replaced the process that waited for the answer. It is asked for at each look,
            // before another process begins; the refusal says how long the probation lasts, so that each one differs.
            guard former.outcome != .trying else {
                return say(
                    Report(
                        .progress,
                        "the outcome of version \(version) is awaited, which an earlier process has handed over: \(refusal)"
                    ), isNews: refused.count == 1)
            }
            // Doubled up to an hour: the reason may go away, such as another slatefile on probation.
            let hour = max(1, Int(.seconds(3600) / settings.poll))
            refused.ticks = min(1 << min(refused.count, 12), hour)
            say(
                Report(
                    .refused,
                    "the host did not take version \(version): \(refusal). It is asked again, ever more seldom"
                ))
        }
    }

    /// Logs a report, unless the last one was the same.
    private func say(_ report: Report, isNews: Bool? = nil) {
        let isNews = isNews ?? (last != report)
        last = report
        looks += 1
        guard isNews else { return context.log.debug("look \(looks): \(report)") }
        if report.isProblem {
            context.log.warning(report.text)
        } else {
            context.log.notice(report.text)
        }
    }

    private var status: FetchStatus {
        let record = try? FetchRecord(from: file.path)
        return FetchStatus(
            source: "\(settings.place)", version: record?.version,
            outcome: record?.outcome.rawValue, isProblem: last?.isProblem ?? false,
            report: last?.text)
    }
}

/// The reply of the route `status`.
struct FetchStatus: Encodable, Sendable {
    let source: String
    let version: Int?
    let outcome: String?
    let isProblem: Bool
    let report: String?
}

/// The error of a host that has no place among others.
private struct NoHostID: Error, CustomStringConvertible {
    let description =
        "the host has no id, which says when it takes a slatefile: start it with 'hostd run', or give an embedded host an inbox"
}

import AppService

/// A watch that turns memory pressure on the system into the event `memory-warning`.
///
/// The kernel wakes a thread that waits for it; there is no polling. Where the service manager names a file
/// to watch (`$MEMORY_PRESSURE_WATCH`, see systemd's MEMORY_PRESSURE), that is watched, else the whole
/// system. Where neither is possible, modules receive the event only from other sources.
final class MemoryPressure: Sendable {
    /// The watched source, and its threshold.
    struct Watch: Hashable {
        var path: String
        var trigger: [UInt8]

        /// A task waited for memory for 150 ms within 2 s: below that there is no noticeable effect.
        ///
        /// Windows of other lengths than a multiple of 2 s are reserved for root.
        static let system = Watch(
            path: "/proc/pressure/memory", trigger: Array("some 150000 2000000\0".utf8))
    }

    /// The time within which one warning stands for all that follow.
    static let pause: Duration = .seconds(10)

    private let time: any TimeSource
    private let log: Log
    private let onPressure: @Sendable () -> Void
    private let end: WakeSignal?

    /// - Parameters:
    ///   - time: The clock that separates warnings.
    ///   - log: The log.
    ///   - onPressure: Called on a thread of this object.
    init(
        time: any TimeSource = SystemTimeSource.shared, log: Log,
        _ onPressure: @escaping @Sendable () -> Void
    ) {
        self.time = time
        self.log = log
        self.onPressure = onPressure
        end = try? WakeSignal()
    }

    /// Begins to watch, where there is a source.
    func start(_ environment: [String: String]) {
        guard let end else { return log.debug("memory pressure is not watched: no descriptor") }
        guard let watch = Self.watch(environment) else {
            return log.debug("memory pressure is not watched: MEMORY_PRESSURE_WATCH disables it")
        }
        do throws(SystemError) {
            let source = try PressureSource(at: watch.path, trigger: watch.trigger)
            try NativeThread.start(name: "hostd-pressure", stackSize: 1 << 17) { [self] in
                loop(source, end)
            }
            log.debug("memory pressure is watched at '\(watch.path)'")
        } catch {
            log.debug("memory pressure is not watched: '\(watch.path)': \(error)")
        }
    }

    /// Ends the thread.
    func stop() { end?.give() }

    private func loop(_ source: borrowing PressureSource, _ end: WakeSignal) {
        var last: ContinuousClock.Instant?
        while source.wait(until: end) {
            let now = time.now()
            if let last, last.duration(to: now) < Self.pause {
                log.debug("memory pressure continues")
                continue
            }
            last = now
            onPressure()
        }
    }

    /// Returns the source to watch; nil if the environment forbids it.
    static func watch(_ environment: [String: String]) -> Watch? {
        switch environment["MEMORY_PRESSURE_WATCH"] {
        case nil, "": return .system
        case "/dev/null": return nil
        case let path?:
            let trigger = environment["MEMORY_PRESSURE_WRITE"].flatMap(Base64.bytes)
            return Watch(path: path, trigger: trigger ?? [])
        }
    }
}

import AppService

/// Turns memory pressure on the system into the event `memory-warning`.
///
/// The kernel wakes a thread that waits for it; nothing looks from time to time. Where the service
/// manager says what to watch (`$MEMORY_PRESSURE_WATCH`, see systemd's MEMORY_PRESSURE), that is
/// watched, else the whole system. Where neither can be, modules get the event by other ways only.
final class MemoryPressure: Sendable {
    /// The watched source, and its threshold.
    struct Watch: Hashable {
        var path: String
        var trigger: [UInt8]

        /// Some task waited for memory for 150 ms within 2 s: below that nothing is felt.
        ///
        /// Windows of other lengths than a multiple of 2 s are for root alone.
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
    ///   - time: What tells warnings apart.
    ///   - log: Where it says what it watches.
    ///   - onPressure: Is called on a thread of this object's.
    init(
        time: any TimeSource = SystemTimeSource.shared, log: Log,
        _ onPressure: @escaping @Sendable () -> Void
    ) {
        self.time = time
        self.log = log
        self.onPressure = onPressure
        end = try? WakeSignal()
    }

    /// Begins to watch, where something can be watched.
    func start(_ environment: [String: String]) {
        guard let end else { return log.debug("memory pressure is not watched: no descriptor") }
        guard let watch = Self.watch(environment) else {
            return log.debug("memory pressure is not watched: MEMORY_PRESSURE_WATCH says so")
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
                log.debug("memory pressure goes on")
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

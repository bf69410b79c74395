import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Levels of the log")
struct LogLevelsTests {
    /// Returns the levels of which lines are written.
    private func written(_ levels: LogLevels, _ module: String? = nil) -> [LogLevel] {
        LogLevel.allCases.filter { levels.isWritten($0, for: module) }
    }

    @Test("the chosen level, then that of the start, then that of the slatefile, then info")
    func order() {
        let levels = LogLevels(start: nil)
        #expect(written(levels) == [.info, .notice, .warning, .error])
        levels.take(host: .error, modules: [:])
        #expect(written(levels) == [.error])
        levels.choose(.notice, for: nil)
        #expect(levels.host == LogLevels.Setting(level: .notice, standard: .error))
        levels.choose(nil, for: nil)
        #expect(written(levels) == [.error])
        let started = LogLevels(start: .warning)
        started.take(host: .debug, modules: [:])
        #expect(written(started) == [.warning, .error])
    }

    @Test("a module with a level of its own, whichever of both is the lower one")
    func module() {
        let levels = LogLevels(start: .notice)
        levels.take(host: .info, modules: ["x.a": .error, "x.b": .debug])
        #expect(written(levels, "x.a") == [.error])
        #expect(written(levels, "x.b") == LogLevel.allCases)
        #expect(written(levels, "x.c") == [.notice, .warning, .error])
        #expect(written(levels) == [.notice, .warning, .error])
        levels.choose(.info, for: "x.a")
        levels.choose(.warning, for: "x.b")
        levels.choose(.debug, for: "x.c")
        #expect(written(levels, "x.a").first == .info)
        #expect(written(levels, "x.b").first == .warning)
        #expect(written(levels, "x.c").first == .debug)
        #expect(
            levels.modules == [
                "x.a": LogLevels.Setting(level: .info, standard: .error),
                "x.b": LogLevels.Setting(level: .warning, standard: .debug),
                "x.c": LogLevels.Setting(level: .debug, standard: nil),
            ])
    }

    @Test("a follower has lines made, of all modules, which the log does not write")
    func followed() {
        let levels = LogLevels(start: .warning)
        levels.take(host: .info, modules: ["x.a": .error])
        for level in LogLevel.allCases {
            levels.follow(level)
            let made = LogLevel.allCases.filter { levels.isEnabled($0, for: "x.a") }
            #expect(made == LogLevel.allCases.filter { $0 >= min(level, .error) })
            let ofHost = LogLevel.allCases.filter { levels.isEnabled($0, for: nil) }
            #expect(ofHost == LogLevel.allCases.filter { $0 >= min(level, .warning) })
            #expect(written(levels, "x.a") == [.error])
            #expect(written(levels) == [.warning, .error])
        }
        levels.follow(nil)
        #expect(!levels.isEnabled(.info, for: nil))
    }

    @Test(
        "a reload keeps chosen levels, but those whose own level changes, and those of removed modules"
    )
    func reload() {
        let levels = LogLevels(start: nil)
        levels.take(host: .error, modules: ["x.a": .error, "x.b": .debug])
        for module in [nil, "x.a", "x.b", "x.c", "x.d"] { levels.choose(.notice, for: module) }
        levels.take(host: .error, modules: ["x.a": .error, "x.d": .info], removed: ["x.c"])
        #expect(levels.host.level == .notice)
        #expect(
            levels.modules == [
                "x.a": LogLevels.Setting(level: .notice, standard: .error),
                "x.d": LogLevels.Setting(level: .info, standard: .info),
            ])
        levels.take(host: .info, modules: [:])
        #expect(written(levels) == [.info, .notice, .warning, .error])
        #expect(levels.modules.isEmpty)
    }

    @Test("logs of one host share them, also those that are made before")
    func shared() {
        let recorder = LogRecorder()
        let log = Log(to: recorder)
        let module = log.of(module: "x.a")
        module.debug("no")
        log.levels.choose(.debug, for: "x.a")
        module.debug("yes")
        log.debug("no")
        log.of(module: "x.b").debug("no")
        #expect(recorder.messages == ["yes"])
    }
}

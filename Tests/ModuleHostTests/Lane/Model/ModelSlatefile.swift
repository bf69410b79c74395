import AppService

@testable import ModuleHostCore

/// The slatefile of trials; reading one takes longer than a trial.
struct ModelSlatefile: Sendable {
    static let tick = Duration.milliseconds(100)

    let worker: Int
    private let all: Slatefile

    init(worker: Int) throws {
        self.worker = worker
        let modules = (0..<4).map { index in
            """
            {"id": "x.m\(index)", "entry": "ModuleHostTests.KeenModelModule", "main": \(index == 0)}
            """
        }
        let deadline = (Self.tick * Schedule.patience).briefText
        let text = """
            {"slate": 1, "app": "trial", "deadlines": {"event": "\(deadline)",
             "launch": "\(deadline)", "stop": "\(deadline)", "stopAll": "1h", "call": "24h"},
             "modules": [\(modules.joined(separator: ",\n"))]}
            """
        all = try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
    }

    func slatefile(of schedule: Schedule) -> Slatefile {
        var slatefile = all
        slatefile.modules.removeLast(all.modules.count - schedule.modules.count)
        let config = try? JSONValue(parsing: "\(worker)")
        for (index, module) in schedule.modules.enumerated() {
            slatefile.modules[index].config = config
            slatefile.modules[index].backlog = module.backlog
            if module.patience != Schedule.patience {
                slatefile.modules[index].deadline = Self.tick * module.patience
            }
            if !module.isKeen {
                slatefile.modules[index].implementation = .entry("ModuleHostTests.PlainModelModule")
            }
        }
        return slatefile
    }
}

import Foundation
import ModuleHost

/// A host with a module to call, alive in this process until it ends.
enum RunningHost {
    /// Starts a host with a module to call and, after it, the one that lends its handler.
    static func start() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "modulehost-calls-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "slatefile.json")
        try slatefile.write(to: file, atomically: true, encoding: .utf8)
        let options = HostDaemonOptions(
            slatefile: file.path, stateDirectory: folder.path, logLevel: .error)
        Thread.detachNewThread {
            let code = HostDaemon.run(options)
            fatalError("the host to be measured ended: \(code)")
        }
    }

    private static let slatefile = """
        {"slate": 1, "app": "bench", "schemes": ["bench"], "deadlines": {"launch": "24h"}, "modules": [
          {"id": "bench.called", "entry": "FanOutModules.CalledModule"},
          {"id": "bench.lane", "entry": "FanOutModules.LaneModule", "main": true}
        ]}
        """
}

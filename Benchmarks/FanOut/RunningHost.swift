import FanOutModules
import Foundation
import ModuleHost

/// A host with modules to ping, alive in this process until it ends.
enum RunningHost {
    /// Starts a host of `count` modules and, after them, the one that lends its handler.
    static func start(modules count: Int) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "modulehost-fanout-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "slatefile.json")
        try slatefile(modules: count).write(to: file, atomically: true, encoding: .utf8)
        let options = HostDaemonOptions(
            slatefile: file.path, stateDirectory: folder.path, logLevel: .error)
        Thread.detachNewThread {
            let code = HostDaemon.run(options)
            fatalError("the host to be measured ended: \(code)")
        }
    }

    private static func slatefile(modules count: Int) -> String {
        let pinged = (0..<count).map { index in
            let entry = index.isMultiple(of: 2) ? "PingModule" : "OtherPingModule"
            return #"{"id": "bench.m\#(index)", "entry": "FanOutModules.\#(entry)"}"#
        }
        let lane = #"{"id": "bench.lane", "entry": "FanOutModules.LaneModule", "main": true}"#
        return """
            {"slate": 1, "app": "bench", "deadlines": {"launch": "24h"},
             "modules": [\((pinged + [lane]).joined(separator: ",\n"))]}
            """
    }
}

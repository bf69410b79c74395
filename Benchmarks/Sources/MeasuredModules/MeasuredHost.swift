import Foundation
public import ModuleHost
import Served

/// A host to be measured, alive in this process until that ends.
public enum MeasuredHost {
    /// A module of the host: its id and its class.
    public typealias Entry = (id: String, type: any Module.Type)

    private static let folder = FileManager.default.temporaryDirectory
        .appending(path: "modulehost-measured-\(ProcessInfo.processInfo.processIdentifier)")

    /// Whether the ownership words are in a file, for the next host to read.
    public static var hasBlackBox: Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: "blackbox").path)
    }

    /// Runs benchmarks, and on this thread the host that one of them starts: all that `main` does.
    ///
    /// - Parameter benchmarks: Runs them. The process ends with it.
    public static func serve(_ benchmarks: @escaping @Sendable () async -> Void) -> Never {
        MainThread.serve {
            Task.detached {
                await benchmarks()
                exit(0)
            }
        }
    }

    /// Starts a host of these modules and, after them, of ``LaneModule``, by which its lane is reached.
    ///
    /// One in a process, in a benchmark that ``serve(_:)`` runs.
    ///
    /// - Parameter modules: The modules, in order.
    /// - Throws: Where the slatefile cannot be written.
    public static func start(_ modules: [Entry]) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "slatefile.json")
        try slatefile(modules).write(to: file, atomically: true, encoding: .utf8)
        let options = HostDaemonOptions(
            slatefile: file.path, stateDirectory: folder.path, logLevel: .error)
        MainThread.run {
            let code = HostDaemon.run(options)
            fatalError("the host to be measured ended: \(code)")
        }
    }

    private static func slatefile(_ modules: [Entry]) -> String {
        let lane: Entry = ("bench.lane", LaneModule.self)
        let entries = (modules + [lane]).map { (id, type) in
            let main = type == lane.type ? #", "main": true"# : ""
            return #"{"id": "\#(id)", "entry": "\#(String(reflecting: type))"\#(main)}"#
        }
        return """
            {"slate": 1, "app": "bench", "schemes": ["bench"], "deadlines": {"launch": "24h"},
             "modules": [\(entries.joined(separator: ",\n"))]}
            """
    }
}

import Glibc
import ModuleHost

/// The host of this process: its modules are measured, and measure.
enum BenchHost {
    /// A module: its class, whether it has a process of its own, and its `config`.
    struct Entry {
        let type: any Module.Type
        var isIsolated = false
        var config = "{}"
    }

    /// Runs a host of these modules until one of them ends the process.
    ///
    /// - Parameters:
    ///   - entries: The modules, in order: `bench.m0`, `bench.m1`, … The last one is the main one.
    ///   - folder: Where the host has its files.
    /// - Throws: Where it ends by itself.
    static func run(_ entries: [Entry], in folder: Folder) throws -> Never {
        let modules = entries.enumerated().map { index, entry in
            #"{"id": "bench.m\#(index)", "entry": "\#(String(reflecting: entry.type))", "deadline": "1h", "config": \#(entry.config)"#
                + (entry.isIsolated ? #", "isolation": "process""# : "")
                + (index == entries.count - 1 ? #", "main": true}"# : "}")
        }
        try folder.write(
            #"{"slate": 1, "app": "bench", "schemes": ["bench"], "modules": [\#(modules.joined(separator: ",\n"))]}"#,
            to: "slatefile.json")
        let code = HostDaemon.run(
            HostDaemonOptions(
                slatefile: folder.path + "/slatefile.json", stateDirectory: folder.path,
                logLevel: .error))
        throw Failure("the host ended: \(code)")
    }
}

/// A folder of one round.
struct Folder {
    let path: String

    init(_ path: String) throws {
        self.path = path
        guard mkdir(path, 0o700) == 0 else { throw Failure.system("mkdir \(path)") }
    }

    func write(_ text: String, to name: String) throws {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.system("open \(path)/\(name)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Failure.system("write \(path)/\(name)")
        }
    }
}

/// All of a file, also of one that the kernel makes up.
func readFile(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure.system("open \(path)") }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &chunk, chunk.count)
        guard count > 0 else { return bytes }
        bytes += chunk[..<count]
    }
}

import Foundation
import ModuleHost
import Served

// How what the host costs grows with what it is given: modules, wrong entries, events that a module is behind.
//
// `Scale HOSTD [SIZE…]` measures and prints a table; it ends with 1 where something grows faster than what it
// is given. `Scale host SLATEFILE FOLDER` is a host of this benchmark's modules.

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "host" {
    let options = HostDaemonOptions(
        slatefile: arguments[2], stateDirectory: arguments[3], logLevel: .error)
    exit(HostDaemon.run(options).rawValue)
}
let sizes = arguments.dropFirst(2).compactMap { Int($0) }
guard arguments.count >= 2, sizes.count == arguments.count - 2 else {
    FileHandle.standardError.write(Data("usage: Scale HOSTD [SIZE…]\n".utf8))
    exit(64)
}
do {
    let trials = try Trials(
        hostd: arguments[1], sizes: sizes.isEmpty ? [1000, 10_000, 50_000] : sizes)
    exit(try trials.run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("Scale: \(error)\n".utf8))
    exit(70)
}

import ModuleHostServiceLifecycle

// A module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

let slatefile = CommandLine.arguments.last ?? ""
let host = try AppHost(slatefileAt: slatefile) { print($0.module ?? "host", $0.message) }
let group = ServiceGroup(
    services: [AppHostService(host), Visitors(host: host)],
    gracefulShutdownSignals: [.sigterm, .sigint])
try await group.run()

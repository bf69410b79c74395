import ModuleHostServiceLifecycle

// A module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

let slatefile = CommandLine.arguments.last ?? ""
let host = try AppHost(slatefileAt: slatefile) { print($0.module ?? "host", $0.message) }
// If one of them fails, the others shut down in good order, too.
let services = [AppHostService(host), Visitors(host: host)] as [any Service]
let group = ServiceGroup(
    configuration: .init(
        services: services.map {
            .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup)
        },
        gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "mail")))
try await group.run()

import ModuleHostLogging

// A module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

// The backend of the program, for all of its libraries.
LoggingSystem.bootstrap(StreamLogHandler.standardError)
let logger = Logger(label: "shop")

let slatefile = CommandLine.arguments.last ?? ""
let host = try AppHost(slatefileAt: slatefile) { logger.write($0) }
async let end: Void = host.run()
try await host.open("shop://price/pear")
host.stop(because: "the shop closes")
try await end

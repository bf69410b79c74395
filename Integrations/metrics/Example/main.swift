import MetricsTestKit
import ModuleHostMetrics

// A module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

// The backend of the program; this one prints each change.
MetricsSystem.bootstrap(StreamMetricsFactory.standardOutput())

let slatefile = CommandLine.arguments.last ?? ""
let host = try AppHost(slatefileAt: slatefile) { print($0.module ?? "host", $0.message) }
async let end: Void = host.run()
for _ in 0..<3 { try await host.post("shop.sold") }
host.stop(because: "the shop closes")
try await end

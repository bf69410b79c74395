import ModuleHostTracing

// A module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

// The tracer of the program; this one keeps its spans.
let tracer = MemoryTracer()
InstrumentationSystem.bootstrap(tracer)

let slatefile = CommandLine.arguments.last ?? ""
let settings = AppHost.Settings(observer: SpanObserver())
let host = try AppHost(slatefileAt: slatefile, settings: settings) { record in
    if record.level >= .warning { print(record.message) }
}
async let end: Void = host.run()
// A server has such a span for each request.
try await withSpan("request") { _ in
    let items = try await host.call("com.example.cart", "add").decode(Int.self)
    print("in the cart: \(items)")
}
host.stop(because: "the shop closes")
try await end
tracer.printSpans()

import ModuleHost
import ModuleHostTesting

/// A module with a route, a topic and an event.
final class MeasuredModule: RoutedModule, MessageResponder, BackgroundResponder {
    let topics = ["tick"]
    private var count = 0

    init(context: ModuleContext) {}

    static var routes: [Route<MeasuredModule>] { [Route("count") { (module, _) in module.count }] }

    func receive(_ message: Message) { count += 1 }
}

let rounds = 1_000

/// The time of each of many rounds, in microseconds, sorted.
func times(_ round: () async throws -> Void) async throws -> [Double] {
    var times: [Double] = []
    for number in 0..<rounds + 100 {
        let start = ContinuousClock.now
        try await round()
        let time = start.duration(to: .now)
        // The first ones meet code that was never run.
        if number >= 100 { times.append(time / .microseconds(1)) }
    }
    return times.sorted()
}

func row(_ name: String, _ times: [Double]) {
    let shown = [0.5, 0.99].map { Int(times[Int(Double(times.count - 1) * $0)].rounded()) }
    print("| \(name) | \(shown[0]) | \(shown[1]) | \(shown[0] < 2_000 ? "yes" : "no") |")
}

print("| a host, \(rounds) times | median, µs | 99th of 100, µs | median under 2 ms |")
print("|---|---:|---:|---|")
row(
    "one module: made and stopped",
    try await times {
        let host = try await TestHost(modules: [MeasuredModule.self])
        await host.stop()
    })
row(
    "one module: made, a message, a call, `background`, stopped",
    try await times {
        let host = try await TestHost(modules: [MeasuredModule.self])
        try await host.post("tick")
        try await host.open("slate://count")
        try await host.deliver(.background)
        await host.stop()
    })
row(
    "one module with an inbox: made and stopped",
    try await times {
        let host = try await TestHost(modules: [MeasuredModule.self], .init(isDurable: true))
        await host.stop()
    })

import Benchmark
import MeasuredModules

/// What the plug-in would make, as a `main` that leaves the main thread to the host.
enum Runner: BenchmarkRunnerHooks {
    static func registerBenchmarks() { benchmarks() }
}

MeasuredHost.serve { await Runner.main() }

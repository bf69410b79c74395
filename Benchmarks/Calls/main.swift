import Benchmark
import MeasuredModules

/// The entry point that the benchmark plug-in would generate, with the main thread left to the host.
enum Runner: BenchmarkRunnerHooks {
    static func registerBenchmarks() { benchmarks() }
}

MeasuredHost.serve { await Runner.main() }

import AppService
import Benchmark
import Dispatch
import Foundation
import Glibc

// One iteration runs the same graph of tasks in every way in turn. A figure takes in the registration
// of the tasks and their run to the end; their names and closures were made before.
//
// The runner of the benchmarks holds one of the threads of Swift's pool while it waits, which leaves
// the task group one on two cores: for tasks that do nothing that is no loss, but its makespan over
// real work would be no fair figure, so there is none.

let benchmarks: @Sendable () -> Void = {
    for count in [1000, 10_000] {
        let graph = TaskGraph(count: count)
        Benchmark("\(count) no-op tasks", configuration: .tasks(TaskWay.taskWays)) { benchmark in
            var times: [TaskWay: Duration] = [:]
            for way in TaskWay.taskWays {
                let took = try await graph.run(way)
                times[way] = took
                benchmark.measurement(way.metric, Int(took / .nanoseconds(1)) / count)
            }
            if let ours = times[.startupQueue], let limit = times[.twoThreads] {
                benchmark.measurement(.ofTwoThreads, Int(ours / limit * 1000))
            }
        }
        // In a process of its own, for the threads that it leaves behind.
        Benchmark("\(count) no-op operations", configuration: .tasks([.operationQueue])) {
            benchmark in
            let took = try await graph.run(.operationQueue)
            benchmark.measurement(
                TaskWay.operationQueue.metric, Int(took / .nanoseconds(1)) / count)
        }
    }

    let burning = TaskGraph(count: 200) { burnMilliseconds(1) }
    Benchmark("200 tasks of 1 ms", configuration: .makespan) { benchmark in
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let took = try await burning.run(.startupQueue)
        let bound = max(burning.longestChain, (burning.count + cores - 1) / cores)
        benchmark.measurement(.makespan, Int(took / .milliseconds(bound) * 1000))
    }
}

/// A way to run tasks that depend on each other.
enum TaskWay: String, CaseIterable {
    case startupQueue = "StartupQueue: register, admit, done (ns a task)"
    case startupQueueOfOne = "StartupQueue of width 1: register, admit, done (ns a task)"
    case startupQueueWithReport = "StartupQueue: register, run, report (ns a task)"
    case twoThreads = "two pthreads and a mutex, graph prebuilt (ns a task)"
    case taskGroup = "task group with counters (ns a task)"
    case operationQueue = "OperationQueue (ns a task)"

    static let taskWays: [TaskWay] = [
        .startupQueue, .twoThreads, .startupQueueOfOne, .startupQueueWithReport, .taskGroup,
    ]

    var metric: BenchmarkMetric {
        .custom(rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    }
}

extension BenchmarkMetric {
    fileprivate static var ofTwoThreads: Self {
        .custom(
            "StartupQueue: of two pthreads (‰; goal 800 at 1 000 tasks, 1000 at 10 000)",
            polarity: .prefersSmaller, useScalingFactor: false)
    }

    fileprivate static var makespan: Self {
        .custom("StartupQueue: makespan over the bound (‰)", useScalingFactor: false)
    }
}

extension Benchmark.Configuration {
    fileprivate static func tasks(_ ways: [TaskWay]) -> Self {
        counting(
            ways.map(\.metric) + (ways.contains(.twoThreads) ? [.ofTwoThreads] : []), warmup: 0,
            iterations: 101, .seconds(10))
    }

    fileprivate static var makespan: Self {
        counting([.makespan], warmup: 2, iterations: 31, .seconds(10))
    }

    private static func counting(
        _ metrics: [BenchmarkMetric], warmup: Int, iterations: Int, _ duration: Duration
    ) -> Self {
        Self(
            metrics: metrics, units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
            warmupIterations: warmup, maxDuration: duration, maxIterations: iterations)
    }
}

/// Uses up the processor, as opposed to the clock, for so long.
private func burnMilliseconds(_ milliseconds: Int) {
    func used() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let end = used() + milliseconds * 1_000_000
    while used() < end {}
}

import Benchmark
import Foundation
import ModuleHost

// One iteration reads the same bytes in every way in turn.

let benchmarks: @Sendable () -> Void = {
    Benchmark("Slatefile of 10 000 modules", configuration: .reading) { benchmark in
        for way in ReadingWay.allCases {
            let began = ContinuousClock.now
            try way.read()
            let took = ContinuousClock.now - began
            benchmark.measurement(way.metric, Int(took / .microseconds(1)))
        }
    }
}

/// A way to turn a slatefile's bytes into values.
enum ReadingWay: String, CaseIterable {
    case slatefile = "Slatefile.read: parse, check, every error's place (µs)"
    case decoder = "JSONDecoder to structs, no checks (µs)"

    func read() throws {
        switch self {
        case .slatefile:
            blackHole(try Slatefile.read(sample, path: "slatefile.json") { _ in nil })
        case .decoder:
            let slatefile = try JSONDecoder().decode(DecodedSlatefile.self, from: sampleData)
            precondition(slatefile.modules.count == 10_000)
        }
    }

    var metric: BenchmarkMetric {
        .custom(rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    }
}

extension Benchmark.Configuration {
    fileprivate static var reading: Self {
        let metrics = ReadingWay.allCases.map(\.metric)
        return Self(
            metrics: metrics, units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
            warmupIterations: 3, maxDuration: .seconds(5), maxIterations: 100)
    }
}

/// What the same file is to a program that reads it with Foundation.
struct DecodedSlatefile: Decodable {
    struct Module: Decodable {
        var id: String
        var entry: String
        var main: Bool?
        var required: Bool?
        var deadline: String?
        var backlog: Int?
        var env: [String]?
        var config: [String: String]?
    }

    var slate: Int
    var app: String
    var schemes: [String]
    var config: [String: String]
    var modules: [Module]
}

private let sample: [UInt8] = {
    let modules = (0..<10_000).map { index in
        """
            { "id": "com.example.module\(index)", "entry": "Modules.ExampleModule\(index)",
              "main": \(index == 0), "required": \(index.isMultiple(of: 7)), "deadline": "250ms",
              "config": { "server": "https://example.com/\(index)", "title": "Größe \(index)" } }
        """
    }
    return Array(
        """
        { "slate": 1, "app": "bench", "schemes": ["slate"],
          "config": { "domain": "https://www.example.com" },
          "modules": [
        \(modules.joined(separator: ",\n"))
        ] }
        """.utf8)
}()

private let sampleData = Data(sample)

/// A metric with its samples, in the terms of Prometheus.
package struct MetricFamily: Hashable, Sendable {
    /// The type of a metric.
    package enum Kind: String, Hashable, Sendable {
        /// A metric that only grows, from 0 at the start.
        case counter
        /// A metric that goes up and down.
        case gauge
        /// The distribution of a value: how many of its readings are at most each bound, their sum and their number.
        case histogram
    }

    /// A name and a value that distinguish a sample from the others of its family.
    package struct Label: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One value of a family.
    package struct Sample: Hashable, Sendable {
        package let labels: [Label]
        package let value: Double
        /// The end of the name behind that of the family: `_bucket`, `_sum` or `_count` in a histogram; empty in others.
        package let suffix: String

        package init(_ value: Double, suffix: String = "", _ labels: Label...) {
            self.labels = labels
            self.value = value
            self.suffix = suffix
        }
    }

    /// The bounds of the times that handlers of events took.
    ///
    /// The first one is longer than a tick of the kernel's coarse clock, so that each handling is counted where it belongs,
    /// to one tick.
    package static let handlingBounds: [Duration] = [
        .milliseconds(10), .milliseconds(30), .milliseconds(100), .milliseconds(300), .seconds(1),
        .seconds(3), .seconds(10),
    ]

    /// The name, with its unit, and `_total` if it is a counter.
    package let name: String
    package let kind: Kind
    /// The meaning, on one line without backslashes.
    package let help: String
    package let samples: [Sample]

    package init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    /// Creates a family with one sample.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.init(name, kind, help, [Sample(value)])
    }

    /// Creates a family with one sample.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        self.init(name, kind, help, Double(value))
    }

    /// Creates a family with one sample; nil if there is no value.
    package init?(_ name: String, _ kind: Kind, _ help: String, ifKnown value: Double?) {
        guard let value else { return nil }
        self.init(name, kind, help, value)
    }

    /// Creates a family with 1 for the current one of several states, and 0 for the others.
    package init<State: RawRepresentable<String> & CaseIterable & Equatable>(
        _ name: String, _ help: String, state: State
    ) {
        self.init(
            name, .gauge, help,
            State.allCases.map { Sample($0 == state ? 1 : 0, Label("state", $0.rawValue)) })
    }
}

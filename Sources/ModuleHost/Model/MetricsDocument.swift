/// The metrics of a host at a moment, as text for Prometheus and as JSON.
///
/// Both forms have the same families, samples and labels. There are no timestamps of samples: the textfile
/// collector of Prometheus' node exporter rejects them.
package struct MetricsDocument: Hashable, Sendable {
    /// The label of every sample, which distinguishes these metrics from those of other apps on the machine.
    private let app: MetricFamily.Label
    package private(set) var families: [MetricFamily] = []

    /// Creates a document without metrics.
    ///
    /// - Parameter app: The value of the label `app` of each sample.
    package init(app: String) { self.app = MetricFamily.Label("app", app) }

    /// Adds a family; without a sample, nothing is added.
    package mutating func add(_ family: MetricFamily?) {
        if let family, !family.samples.isEmpty { families.append(family) }
    }

    /// The document in the text format of Prometheus; every line has its end.
    ///
    /// The samples of a family stand together below its `HELP` and `TYPE`.
    package var text: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + families.reduce(0) { $0 + 256 + 128 * $1.samples.count })
        let start = "{\(Self.text(of: app))"
        for family in families {
            bytes += "# HELP \(family.name) \(family.help)\n".utf8
            bytes += "# TYPE \(family.name) \(family.kind.rawValue)\n".utf8
            for sample in family.samples {
                bytes += family.name.utf8
                bytes += sample.suffix.utf8
                bytes += start.utf8
                for label in sample.labels { bytes += ",\(Self.text(of: label))".utf8 }
                bytes += "} \(Self.text(of: sample.value))\n".utf8
            }
        }
        return bytes
    }

    /// Writes the document as an array with an object for each family.
    package func write(to json: inout JSONWriter) {
        json.objects(for: families) { family, json in
            json.member("name", family.name)
            json.member("type", family.kind.rawValue)
            json.member("help", family.help)
            json.member("samples") {
                $0.objects(for: family.samples) { sample, json in
                    if !sample.suffix.isEmpty { json.member("suffix", sample.suffix) }
                    json.member("labels") {
                        $0.object { json in
                            for label in [app] + sample.labels {
                                json.member(label.name, label.value)
                            }
                        }
                    }
                    json.member("value", raw: Self.text(of: sample.value).utf8)
                }
            }
        }
    }

    /// Returns a finite number in the form of Prometheus and of JSON, whole ones without a fraction.
    private static func text(of value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    private static func text(of label: MetricFamily.Label) -> String {
        "\(label.name)=\"\(escaped(label.value))\""
    }

    /// Returns the value of a label, with the three characters escaped that would end it or its line.
    ///
    /// The format has no escape for other characters that a terminal obeys: they become the words that a log
    /// has for them.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case _ where isObeyed(scalar.value):
                result += "\\" + TerminalText(escaping: String(scalar)).string
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

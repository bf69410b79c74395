/// Metrics in the text format of Prometheus, as a host writes them.
///
/// The host is the only writer: a line in another form is left out.
struct MetricsText {
    /// A value with the metric that it is one of.
    struct Sample {
        /// Name and labels as they are written, which is the same text at each reading.
        let key: Substring
        let name: Substring
        let isCounter: Bool
        let value: Double

        /// The names and values of the labels, in their order.
        var labels: [(String, String)] { MetricsText.labels(in: key.dropFirst(name.count)) }
    }

    let samples: [Sample]

    /// Reads a text.
    init(_ text: String) {
        var samples: [Sample] = []
        // The counters: one name, or the beginning of those of a histogram.
        var (counter, isHistogram) = (nil as Substring?, false)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = Substring(line)
            if line.utf8.first == UInt8(ascii: "#") {
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count == 4, words[1] == "TYPE" else { continue }
                isHistogram = words[3] == "histogram"
                counter = words[3] == "counter" || isHistogram ? words[2] : nil
            } else if let space = line.utf8.lastIndex(of: UInt8(ascii: " ")),
                let value = Double(line[line.index(after: space)...])
            {
                let key = line[..<space]
                let name = Substring(key.utf8.prefix { $0 != UInt8(ascii: "{") })
                let isCounter =
                    counter.map { isHistogram ? name.hasPrefix("\($0)_") : name == $0 } ?? false
                samples.append(Sample(key: key, name: name, isCounter: isCounter, value: value))
            }
        }
        self.samples = samples
    }

    /// Reads labels in their braces: `{app="shop",module="com.example.cart"}`.
    private static func labels(in text: Substring) -> [(String, String)] {
        var labels: [(String, String)] = []
        var rest = text.unicodeScalars.dropFirst()
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            // Behind the equals sign and the quote.
            rest = rest[equals...].dropFirst(2)
            var value = String.UnicodeScalarView()
            while let scalar = rest.popFirst(), scalar != "\"" {
                guard scalar == "\\", let escaped = rest.popFirst() else {
                    value.append(scalar)
                    continue
                }
                value.append(escaped == "n" ? "\n" : escaped)
            }
            labels.append((name, String(value)))
            // The comma, or the closing brace.
            rest = rest.dropFirst()
        }
        return labels
    }
}

import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The text and the JSON of metrics", .timeLimit(.minutes(1)))
struct MetricsDocumentTests {
    private func text(_ document: MetricsDocument) -> String {
        String(decoding: document.text, as: UTF8.self)
    }

    @Test("HELP and TYPE come once, before all samples of the family")
    func family() {
        var document = MetricsDocument(app: "demo")
        document.add(
            MetricFamily(
                "a_total", .counter, "All of a.",
                [.init(3, .init("of", "x")), .init(0, .init("of", "y"), .init("by", "z"))]))
        document.add(MetricFamily("b_seconds", .gauge, "How long b took.", 0.25))
        #expect(
            text(document) == """
                # HELP a_total All of a.
                # TYPE a_total counter
                a_total{app="demo",of="x"} 3
                a_total{app="demo",of="y",by="z"} 0
                # HELP b_seconds How long b took.
                # TYPE b_seconds gauge
                b_seconds{app="demo"} 0.25

                """)
    }

    @Test("a family without samples is not there")
    func noSamples() {
        var document = MetricsDocument(app: "demo")
        document.add(MetricFamily("a", .gauge, "All of a.", []))
        document.add(MetricFamily("a", .gauge, "All of a.", ifKnown: nil))
        #expect(document.text.isEmpty)
        var json = JSONWriter()
        document.write(to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "[]")
    }

    @Test("the state is 1, every other state 0")
    func states() {
        var document = MetricsDocument(app: "demo")
        document.add(MetricFamily("s", "The state.", state: LifecycleState.background))
        let ones = text(document).split(separator: "\n").filter { $0.hasSuffix(" 1") }
        #expect(ones == [#"s{app="demo",state="background"} 1"#])
        #expect(text(document).split(separator: "\n").count == 2 + LifecycleState.allCases.count)
    }

    @Test(
        "labels are escaped, and begin no line and no sequence of a terminal",
        arguments: [
            (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#),
            ("a\r\nb", #"a\\r\nb"#), (#"\n"#, #"\\n"#), ("ü", "ü"), ("\u{1B}[2J", #"\\u{1b}[2J"#),
        ])
    func labels(value: String, escaped: String) {
        var document = MetricsDocument(app: value)
        document.add(MetricFamily("a", .gauge, "A.", [.init(1, .init("b", value))]))
        #expect(text(document).hasSuffix("a{app=\"\(escaped)\",b=\"\(escaped)\"} 1\n"))
        #expect(TerminalText(lines: text(document)).string == text(document))
    }

    @Test("the JSON has the samples of the text, with the same labels and values")
    func json() throws {
        var document = MetricsDocument(app: "de\"mo")
        document.add(MetricFamily("a_total", .counter, "A.", [.init(3, .init("of", "x"))]))
        document.add(MetricFamily("b_seconds", .gauge, "B.", 1_795_917_339.108))
        var json = JSONWriter()
        document.write(to: &json)
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"[{"name":"a_total","type":"counter","help":"A.","samples":"#
                + #"[{"labels":{"app":"de\"mo","of":"x"},"value":3}]},"#
                + #"{"name":"b_seconds","type":"gauge","help":"B.","samples":"#
                + #"[{"labels":{"app":"de\"mo"},"value":1795917339.108}]}]"#)
        #expect(text(document).contains(#"b_seconds{app="de\"mo"} 1795917339.108"#))
    }
}

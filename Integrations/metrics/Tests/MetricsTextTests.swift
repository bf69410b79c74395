import Testing

@testable import ModuleHostMetrics

@Suite("Metrics in the text format of Prometheus")
struct MetricsTextTests {
    @Test("a sample has name, labels, value and type")
    func samples() {
        let samples = MetricsText(
            """
            # HELP hostd_events_total Events delivered, by kind.
            # TYPE hostd_events_total counter
            hostd_events_total{app="shop",event="push"} 12
            # TYPE hostd_ready_seconds gauge
            hostd_ready_seconds{app="shop"} 0.25

            """
        ).samples
        #expect(samples.map(\.name) == ["hostd_events_total", "hostd_ready_seconds"])
        #expect(samples.map(\.isCounter) == [true, false])
        #expect(samples.map(\.value) == [12, 0.25])
        #expect(
            samples.map(\.key) == [
                #"hostd_events_total{app="shop",event="push"}"#,
                #"hostd_ready_seconds{app="shop"}"#,
            ])
        #expect(
            samples.map { $0.labels.map { "\($0.0)=\($0.1)" } } == [
                ["app=shop", "event=push"], ["app=shop"],
            ])
    }

    @Test("what is escaped in a label comes as it was")
    func escapes() throws {
        let samples = MetricsText(#"x{app="a \"b\", c=\\ } d\ne",event="ü="} 1"#).samples
        let labels = try #require(samples.first).labels
        #expect(labels.map(\.0) == ["app", "event"])
        #expect(labels.map(\.1) == ["a \"b\", c=\\ } d\ne", "ü="])
    }

    @Test(
        "a line in another form is left out, or has no labels; none traps",
        arguments: [
            "", " ", "#", "# TYPE", "x", "x 1", "x{ 1", "x{a 1", "x{a= 1", #"x{a="b 1"#,
            #"x{a="b\ 1"#, "x{} y", "{} 1",
        ])
    func odd(_ line: String) {
        for sample in MetricsText(line + "\n").samples { _ = sample.labels }
        #expect(MetricsText("\(line)\ny{app=\"a\"} 2\n").samples.last?.value == 2)
    }
}

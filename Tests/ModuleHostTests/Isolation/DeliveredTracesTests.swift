import Testing

@testable import ModuleHostCore

@Suite("Traces that a process has received")
struct DeliveredTracesTests {
    private let given: TraceContext
    private let traces = DeliveredTraces()

    init() throws { given = try #require(TraceContext(TraceContextTests.text)) }

    @Test("the one that is to be answered, else the last one; several are not told apart")
    func known() {
        #expect(traces.known(given) == given)
        let (first, second) = (given.begun(), given.begun())
        traces.note(first)
        #expect(traces.known(given) == first)
        traces.note(second)
        #expect(traces.known(given) == given)
        traces.end(first)
        #expect(traces.known(given) == second)
        traces.end(second)
        // What it does afterwards.
        #expect(traces.known(given) == second)
    }

    @Test("a call within an event, which has its span")
    func nested() {
        let event = given.begun()
        traces.note(event)
        traces.note(event)
        #expect(traces.known(given) == event)
        traces.end(event)
        traces.end(event)
        let next = given.begun()
        traces.note(next)
        #expect(traces.known(given) == next)
    }

    @Test("the last 256; another trace, and none")
    func bounds() throws {
        let first = given.begun()
        traces.note(first)
        traces.end(first)
        traces.note(nil)
        let other = try #require(
            TraceContext("00-" + String(repeating: "a", count: 32) + "-00f067aa0ba902b7-01"))
        for _ in 0..<255 { traces.note(other.begun()) }
        #expect(traces.known(given) == first)
        traces.note(other.begun())
        #expect(traces.known(given) == given)
    }
}

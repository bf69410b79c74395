import Testing

@testable import ModuleHostCore

@Suite("Trace contexts")
struct TraceContextTests {
    static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let rest = String(text.dropFirst(2))

    @Test(
        "of this version, and the part that this version knows of a later one",
        arguments: ["00" + rest, "cc" + rest, "cc" + rest + "-what the future brings"])
    func valid(_ given: String) throws {
        let trace = try #require(TraceContext(given))
        #expect(trace.text == Self.text)
        #expect(trace.id.text == "4bf92f3577b34da6a3ce929d0e0e4736")
    }

    @Test(
        "what is none",
        arguments: [
            "", "00", String(text.dropLast()), text + "-", text + "-00", "ff" + rest,
            "cc" + rest + "x",
            text.uppercased(), text.replacing("-01", with: "-0g"), text.replacing("-", with: "_"),
            "00-" + String(repeating: "0", count: 32) + "-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-" + String(repeating: "0", count: 16) + "-01",
            "cc" + rest + "-" + String(repeating: "x", count: 1 << 20), "é" + text,
            String(text.dropLast(2)) + "é",
        ])
    func invalid(_ given: String) { #expect(TraceContext(given) == nil) }

    @Test("code runs in the trace that it is given, and for none in that of the code around it")
    func nested() throws {
        let trace = try #require(TraceContext(Self.text))
        let other = try #require(TraceContext(Self.text.replacing("-01", with: "-00")))
        #expect(TraceContext.current == nil)
        TraceContext.with(trace) {
            TraceContext.with(nil) { #expect(TraceContext.current == trace) }
            TraceContext.with(other) { #expect(TraceContext.current == other) }
            #expect(TraceContext.current == trace)
        }
        #expect(throws: TestError.self) {
            try TraceContext.with(trace) { () throws(TestError) in throw TestError() }
        }
    }
}

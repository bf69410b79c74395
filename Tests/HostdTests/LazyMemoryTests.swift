import ModuleHost
import TestSupport
import Testing

@Suite("The memory of lazy modules", .timeLimit(.minutes(10)))
struct LazyMemoryTests {
    /// The anonymous memory of a host with so many modules beside the main one, in bytes.
    private func memory(of count: Int, _ more: String) throws -> Int {
        let modules = (0..<count).map { number in
            #"{"id": "x.module-\#(number)", "entry": "Modules.JournalModule", \#(more)}"#
        }
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
            {"id": "x.main", "entry": "Modules.MainModule", "main": true},
            \(modules.joined(separator: ",\n"))]}
            """
        let run = try HostdRun(slatefile).ready()
        let status = try readFile(
            at: "/proc/\(run.process.processID)/status", limit: 1 << 16)
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("RssAnon:") }
        let kilobytes = try #require(
            line?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        _ = try run.terminated()
        return kilobytes << 10
    }

    @Test(
        "one that is not made costs at most 200 bytes beside its entry",
        .disabled(if: isSanitized, "a sanitizer keeps what is freed"))
    func many() throws {
        let count = 40_000
        // The least of three: what is freed stays with the thread that allocated it, now and then some MB more.
        func least(_ more: String) throws -> Int {
            try min(memory(of: count, more), memory(of: count, more), memory(of: count, more))
        }
        let lazy = try least(#""launch": "lazy""#)
        let entries = try least(#""enabled": false"#)
        let each = (lazy - entries) / count
        #expect(each <= 200, "\(each) bytes")
    }
}

import TestSupport
import Testing

@testable import ModuleHostCore
@testable import Modules

@Suite("The file of the metrics", .timeLimit(.minutes(1)))
struct MetricsFileTests {
    @Test("it is removed by the last that has written it, and not written again")
    func successor() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (MetricsFile(), MetricsFile())
        try first.write([65], to: folder.path("a"))
        try second.write([66], to: folder.path("a"))
        try first.remove()
        try first.write([67], to: folder.path("a"))
        #expect(try folder.text(of: "a") == "B")
        try second.write([66], to: folder.path("b"))
        #expect(folder.names == ["b"])
        try second.remove()
        #expect(folder.names == [])
    }
}

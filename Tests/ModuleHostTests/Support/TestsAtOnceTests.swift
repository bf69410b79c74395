import Glibc
import Testing

@Suite("Tests at once")
struct TestsAtOnceTests {
    @Test("as many as the variable says, which is set before the runner reads it")
    func limited() throws {
        let value = try #require(getenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"))
        #expect((Int(String(cString: value)) ?? 0) > 0)
    }
}

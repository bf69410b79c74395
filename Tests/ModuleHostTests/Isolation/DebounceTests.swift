import Dispatch
import Testing

@testable import ModuleHostCore

@Suite("A repeated condition")
struct DebounceTests {
    private func at(_ milliseconds: UInt64) -> DispatchTime {
        DispatchTime(uptimeNanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    /// Returns the times at which a condition begins that is noted as there or not at each of them.
    private func begins(
        _ condition: inout Debounce, _ notes: KeyValuePairs<UInt64, Bool>
    ) -> [UInt64] {
        notes.filter { condition.note($0.value, at: at($0.key)) }.map(\.key)
    }

    @Test("counts as one as long as it is absent for less than a second")
    func repeated() {
        var condition = Debounce()
        let first = begins(&condition, [0: false, 1: true, 10: true, 20: false, 1000: false])
        #expect(first == [1])
        let same = begins(&condition, [1010: true, 1020: false])
        #expect(same.isEmpty)
        #expect(condition.isUnderWay)
        let next = begins(&condition, [2030: false, 2040: true])
        #expect(next == [2040])
    }

    @Test("time without a note is no absence")
    func unseen() {
        var condition = Debounce()
        let begun = begins(&condition, [0: true, 5000: false, 5100: true])
        #expect(begun == [0])
    }
}

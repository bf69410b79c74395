import Testing

@testable import ModuleHostCore

@Suite struct EventPositionTests {
    @Test func isOrderedByAcceptance() {
        let positions = [
            EventPosition(segment: 1, offset: 0), EventPosition(segment: 1, offset: 42),
            EventPosition(segment: 2, offset: 0), EventPosition(segment: .max, offset: .max),
        ]
        #expect(positions == positions.reversed().sorted())
        for position in positions {
            #expect(EventPosition(position.description) == position)
            #expect(EventPosition(rawValue: position.rawValue) == position)
        }
        #expect(EventPosition(rawValue: 0) == nil)
    }

    @Test(arguments: [
        "", ":", "1", "1:", ":1", "0:1", "1:2:3", "+1:2", "1:-2", " 1:2", "1:02", "01:2",
        "4294967296:1", "1:4294967296", "a:b",
    ])
    func refusesOtherText(_ text: String) {
        #expect(EventPosition(text) == nil)
    }
}

/// The events whose answers are to come, each with the place of its note in the black box.
struct UnansweredEvents {
    private(set) var numbers: [EventPosition: Int] = [:]
    /// The places that are free, below ``end``.
    private var free: [Int] = []
    private var end = 0

    var isEmpty: Bool { numbers.isEmpty }

    /// Returns the place of an event, a free one if it has none.
    mutating func number(of position: EventPosition) -> Int {
        if let number = numbers[position] { return number }
        let number: Int
        if let last = free.popLast() {
            number = last
        } else {
            number = end
            end += 1
        }
        numbers[position] = number
        return number
    }

    mutating func remove(_ position: EventPosition) -> Int? {
        guard let number = numbers.removeValue(forKey: position) else { return nil }
        free.append(number)
        return number
    }
}

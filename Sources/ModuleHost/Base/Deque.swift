/// A first-in, first-out queue on an array used as a ring: nothing is allocated once it has grown.
struct Deque<Element> {
    private var ring: [Element?] = []
    private var start = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: Element? { self[0] }

    /// The element at an index from the front, or nil.
    ///
    /// Setting an element that does not exist has no effect.
    subscript(index: Int) -> Element? {
        get {
            index >= 0 && index < count ? ring[(start + index) & (ring.count - 1)] : nil
        }
        set {
            if index >= 0, index < count { ring[(start + index) & (ring.count - 1)] = newValue }
        }
    }

    mutating func append(_ element: Element) {
        if count == ring.count { grow() }
        ring[(start + count) & (ring.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = ring[start].take()
        start = (start + 1) & (ring.count - 1)
        count -= 1
        return element
    }

    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return ring[(start + count) & (ring.count - 1)].take()
    }

    /// Inserts elements, in their order, before all others.
    mutating func prepend(_ elements: [Element]) {
        for element in elements.reversed() {
            if count == ring.count { grow() }
            start = (start + ring.count - 1) & (ring.count - 1)
            ring[start] = element
            count += 1
        }
    }

    mutating func removeAll() -> [Element] {
        var all: [Element] = []
        all.reserveCapacity(count)
        while let element = popFirst() { all.append(element) }
        return all
    }

    /// Removes selected elements before an end element; none where there is no end element.
    ///
    /// - Parameters:
    ///   - end: Returns whether an element is the end element.
    ///   - isTaken: Returns whether an element before it is removed.
    /// - Returns: The elements, in their order.
    mutating func remove(
        before end: (Element) -> Bool, where isTaken: (Element) -> Bool
    ) -> [Element] {
        let all = removeAll()
        let place = all.firstIndex(where: end) ?? all.startIndex
        var taken: [Element] = []
        for (index, element) in all.enumerated() {
            if index < place, isTaken(element) { taken.append(element) } else { append(element) }
        }
        return taken
    }

    /// The capacity stays a power of two, so that an index is computed with a mask.
    private mutating func grow() {
        var larger: [Element?] = Array(repeating: nil, count: max(16, ring.count * 2))
        for index in 0..<count { larger[index] = ring[(start + index) & (ring.count - 1)] }
        ring = larger
        start = 0
    }
}

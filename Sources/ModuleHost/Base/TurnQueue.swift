/// A queue whose elements belong to owners that take turns: each has its own elements in order, and one of them
/// leaves the queue at a turn.
struct TurnQueue<Element> {
    private var elements: [ObjectIdentifier?: Deque<Element>] = [:]
    /// The owners of elements, the one whose turn is next first.
    private var owners = Deque<ObjectIdentifier?>()

    var isEmpty: Bool { owners.isEmpty }

    /// Adds an element behind the others of its owner; nil stands for an owner, too.
    mutating func append(_ element: Element, of owner: ObjectIdentifier?) {
        if elements[owner]?.isEmpty != false { owners.append(owner) }
        elements[owner, default: Deque()].append(element)
    }

    /// Takes the first element of the owner whose turn it is.
    mutating func popFirst() -> Element? {
        guard let owner = owners.popFirst(), let element = elements[owner]?.popFirst() else {
            return nil
        }
        if elements[owner]?.isEmpty == false {
            owners.append(owner)
        } else if owner != nil {
            elements[owner] = nil
        }
        return element
    }
}

import AppService

/// A queue that keeps its elements until it is released, and hands them on in order.
final class DeferredQueue<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]?>([])

    /// - Returns: False where nothing is kept back any more.
    func keep(_ element: Element) -> Bool {
        elements.withLock { elements in
            elements?.append(element)
            return elements != nil
        }
    }

    /// Hands on what there is, before anything that comes from now on; nothing is kept back any more.
    func release(_ handOn: ([Element]) -> Void) {
        while let some = takeSome() { handOn(some) }
    }

    private func takeSome() -> [Element]? {
        elements.withLock { elements in
            guard let kept = elements, !kept.isEmpty else {
                elements = nil
                return nil
            }
            elements = []
            return kept
        }
    }
}

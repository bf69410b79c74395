import AppService

/// A queue that keeps its elements until it is released, and then passes them on in order.
final class DeferredQueue<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]?>([])

    /// - Returns: False once the queue is released: the element is not kept.
    func keep(_ element: Element) -> Bool {
        elements.withLock { elements in
            elements?.append(element)
            return elements != nil
        }
    }

    /// Passes on the kept elements before any that arrive from now on; no further element is kept.
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

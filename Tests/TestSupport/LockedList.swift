import AppService

/// A list that several threads add to.
package final class LockedList<Element: Sendable>: Sendable {
    private let list = Guarded<[Element]>([])

    package init() {}

    package var values: [Element] { list.withLock { $0 } }

    package func append(_ element: Element) { list.withLock { $0.append(element) } }

    /// Takes everything out.
    package func takeAll() -> [Element] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}

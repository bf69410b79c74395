/// A trie of patterns by bytes in plain Swift: literals, placeholders, and the items of a query.
///
/// It has no access levels, no predicates, no order of modules and no errors with a place, and does not check which
/// characters a URL has.
struct ByteTrie {
    /// The tree while patterns are added.
    struct Draft {
        struct Node {
            var children: [UInt8: Int] = [:]
            var placeholder = -1
            var route = -1
        }

        fileprivate var nodes = [Node()]

        mutating func add(_ pattern: String, route: Int) {
            var node = 0
            for (index, segment) in pattern.split(separator: "/").enumerated() {
                if index > 0 { node = child(UInt8(ascii: "/"), of: node) }
                if segment.first == ":" {
                    if nodes[node].placeholder < 0 {
                        nodes[node].placeholder = nodes.count
                        nodes.append(Node())
                    }
                    node = nodes[node].placeholder
                } else {
                    for byte in segment.utf8 { node = child(byte, of: node) }
                }
            }
            nodes[node].route = route
        }

        private mutating func child(_ byte: UInt8, of node: Int) -> Int {
            if let child = nodes[node].children[byte] { return child }
            nodes[node].children[byte] = nodes.count
            nodes.append(Node())
            return nodes.count - 1
        }
    }

    struct Match {
        let route: Int
        /// The values of the placeholders, in the order of the pattern.
        let values: [String]
        let items: [(name: String, value: String)]
    }

    /// A node: its children are those of the bytes from `low` on, beginning at `first`.
    private struct Node {
        var first: Int32
        var placeholder: Int32
        var route: Int32
        var low: UInt8
        var count: UInt8
    }

    private var nodes: [Node] = []
    private var children: [Int32] = []
    private let scheme: [UInt8]

    init(_ draft: Draft, scheme: String) {
        self.scheme = Array(scheme.utf8)
        for node in draft.nodes {
            let low = node.children.keys.min() ?? 0
            let high = node.children.keys.max()
            let count = high.map { Int($0 - low) + 1 } ?? 0
            nodes.append(
                Node(
                    first: Int32(children.count), placeholder: Int32(node.placeholder),
                    route: Int32(node.route), low: low, count: UInt8(count)))
            for place in 0..<count {
                children.append(Int32(node.children[low + UInt8(place)] ?? -1))
            }
        }
    }

    func match(_ url: String) -> Match? {
        url.utf8.withContiguousStorageIfAvailable { bytes -> Match? in
            guard bytes.count >= scheme.count + 3 else { return nil }
            for (index, byte) in scheme.enumerated() where bytes[index] | 0x20 != byte {
                return nil
            }
            guard bytes[scheme.count...].starts(with: "://".utf8) else { return nil }
            var search = Search(trie: self, bytes: bytes)
            let route = search.find(0, scheme.count + 3)
            guard route >= 0 else { return nil }
            return Match(
                route: Int(route), values: search.values.map { search.text($0) },
                items: search.items())
        } ?? nil
    }

    private struct Search {
        let trie: ByteTrie
        let bytes: UnsafeBufferPointer<UInt8>
        var values: [Range<Int>] = []
        var pathEnd = 0

        private func isEnd(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }

        private func child(_ byte: UInt8, of index: Int32) -> Int32 {
            let node = trie.nodes[Int(index)]
            let place = byte &- node.low
            return place < node.count ? trie.children[Int(node.first) + Int(place)] : -1
        }

        /// Returns the route of the path from a segment on: a literal first, then a placeholder.
        mutating func find(_ node: Int32, _ start: Int) -> Int32 {
            var position = start
            var next = node
            while next >= 0, position < bytes.count, !isEnd(bytes[position]) {
                var byte = bytes[position]
                position += 1
                if byte == UInt8(ascii: "%"), let decoded = decoded(at: position) {
                    byte = decoded
                    position += 2
                }
                next = child(byte, of: next)
            }
            if next >= 0 {
                let route = goOn(next, position)
                if route >= 0 { return route }
            }
            let placeholder = trie.nodes[Int(node)].placeholder
            guard placeholder >= 0 else { return -1 }
            position = start
            while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
            values.append(start..<position)
            let route = goOn(placeholder, position)
            if route < 0 { values.removeLast() }
            return route
        }

        /// Goes on behind a segment: at the slash before the next one, or at the end of the path.
        private mutating func goOn(_ node: Int32, _ end: Int) -> Int32 {
            var position = end
            if position < bytes.count, bytes[position] == UInt8(ascii: "/") {
                while position < bytes.count, bytes[position] == UInt8(ascii: "/") { position += 1 }
                if position < bytes.count, !isEnd(bytes[position]) {
                    let next = child(UInt8(ascii: "/"), of: node)
                    return next < 0 ? -1 : find(next, position)
                }
            }
            pathEnd = position
            return trie.nodes[Int(node)].route
        }

        func items() -> [(name: String, value: String)] {
            guard pathEnd < bytes.count, bytes[pathEnd] == UInt8(ascii: "?") else { return [] }
            var items: [(name: String, value: String)] = []
            var position = pathEnd
            while position < bytes.count, bytes[position] != UInt8(ascii: "#") {
                position += 1
                let start = position
                while position < bytes.count, bytes[position] != UInt8(ascii: "&"),
                    bytes[position] != UInt8(ascii: "#")
                {
                    position += 1
                }
                let item = bytes[start..<position]
                let equals = item.firstIndex(of: UInt8(ascii: "="))
                items.append(
                    (
                        text(start..<(equals ?? position)),
                        equals.map { text($0 + 1..<position) } ?? ""
                    ))
            }
            return items
        }

        func text(_ range: Range<Int>) -> String {
            guard bytes[range].contains(UInt8(ascii: "%")) else {
                return String(decoding: bytes[range], as: UTF8.self)
            }
            var decodedBytes: [UInt8] = []
            var position = range.lowerBound
            while position < range.upperBound {
                if bytes[position] == UInt8(ascii: "%"), let byte = decoded(at: position + 1) {
                    decodedBytes.append(byte)
                    position += 3
                } else {
                    decodedBytes.append(bytes[position])
                    position += 1
                }
            }
            return String(decoding: decodedBytes, as: UTF8.self)
        }

        /// Returns the byte of an escape whose two digits begin at a position.
        private func decoded(at position: Int) -> UInt8? {
            guard position + 2 <= bytes.count, let high = digit(bytes[position]),
                let low = digit(bytes[position + 1])
            else { return nil }
            return high << 4 | low
        }

        private func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            default: nil
            }
        }
    }
}

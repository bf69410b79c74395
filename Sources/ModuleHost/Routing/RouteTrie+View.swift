extension RouteTrie {
    /// The arrays of a trie, borrowed.
    struct View {
        let nodes: UnsafeBufferPointer<Node>
        let suffixes: UnsafeBufferPointer<Suffix>
        let literals: UnsafeBufferPointer<UInt8>
        let slots: UnsafeBufferPointer<UInt64>

        @inline(__always)
        static func mixed(_ hash: UInt64, _ parent: NodeIndex) -> UInt64 {
            let mixed = (hash ^ UInt64(truncatingIfNeeded: parent)) &* 0xD6E8_FEB8_6659_FD93
            return mixed ^ mixed << 32
        }

        @inline(__always)
        func literal(of node: NodeIndex) -> SegmentBytes {
            let node = nodes[Int(node)]
            let start = Int(node.literalStart)
            return SegmentBytes(
                UnsafeBufferPointer(
                    rebasing: literals[start..<start + node.literalCount]))
        }

        @inline(__always)
        func suffix(_ suffix: Suffix) -> SegmentBytes {
            let start = Int(suffix.start)
            return SegmentBytes(
                UnsafeBufferPointer(rebasing: literals[start..<start + Int(suffix.count)]))
        }

        /// Returns the node behind a literal segment that is not the first.
        @inline(__always)
        func child(_ segment: SegmentBytes, of parent: NodeIndex) -> NodeIndex {
            find(segment, segment.exactHash, of: parent, folding: false)
        }

        /// Returns the node behind a first segment.
        ///
        /// With `folding`, the head of the list of those that differ in case only; without, the one with the
        /// same case.
        @inline(__always)
        func firstChild(
            _ segment: SegmentBytes, of parent: NodeIndex, folding: Bool
        ) -> NodeIndex {
            let head = firstChild(segment, segment.foldedHash, of: parent)
            return folding ? head : exact(segment, in: head)
        }

        @inline(__always)
        func firstChild(
            _ segment: SegmentBytes, _ foldedHash: UInt64, of parent: NodeIndex
        ) -> NodeIndex {
            find(segment, foldedHash, of: parent, folding: true)
        }

        @inline(__always)
        func exact(_ segment: SegmentBytes, in head: NodeIndex) -> NodeIndex {
            var node = head
            while node >= 0, !literal(of: node).equals(segment, folding: false) {
                node = nodes[Int(node)].sibling
            }
            return node
        }

        @inline(__always)
        func find(
            _ segment: SegmentBytes, _ hash: UInt64, of parent: NodeIndex, folding: Bool
        ) -> NodeIndex {
            let mixed = Self.mixed(hash, parent)
            let mask = slots.count - 1
            var index = Int(truncatingIfNeeded: mixed >> 32) & mask
            while true {
                let slot = slots[index]
                if slot == 0 { return RouteTrie.none }
                if slot >> 32 == mixed >> 32 {
                    let node = NodeIndex(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1
                    if nodes[Int(node)].parent == parent,
                        literal(of: node).equals(segment, folding: folding)
                    {
                        return node
                    }
                }
                index = (index + 1) & mask
            }
        }
    }
}

extension RouteTable.Contents {
    /// The parts that a search needs, borrowed.
    struct View {
        let trie: RouteTrie.View
        let variants: UnsafeBufferPointer<Variant>
        let listedModules: UnsafeBufferPointer<ModuleLists.Item>
        let roots: Roots

        /// Returns the node of a scheme, or ``RouteTrie/none``.
        @inline(__always)
        func scheme(_ name: SegmentBytes) -> RouteTrie.NodeIndex {
            // Mostly the first of the app's, which is compared sooner than looked up.
            if roots.firstScheme >= 0,
                trie.literal(of: roots.firstScheme).equals(name, folding: true)
            {
                return roots.firstScheme
            }
            return trie.firstChild(name, of: roots.schemeNames, folding: true)
        }

        /// Returns the node of a first segment, or ``RouteTrie/none``.
        @inline(__always)
        func firstName(_ name: SegmentBytes, _ foldedHash: UInt64) -> RouteTrie.NodeIndex {
            trie.firstChild(name, foldedHash, of: roots.firstNames)
        }

        /// Returns the root of the module whose id a first segment is, or ``RouteTrie/none``.
        @inline(__always)
        func module(at firstName: RouteTrie.NodeIndex) -> RouteTrie.NodeIndex {
            firstName < 0 ? RouteTrie.none : trie.nodes[Int(firstName)].route
        }

        /// Adds the lists of the modules that may have a relative pattern for a URL.
        ///
        /// - Parameters:
        ///   - firstName: The node of its first segment.
        ///   - modules: Receives the lists, at most one more than the URL has segments.
        @inline(__always)
        func addLists(
            for url: URLBytes, _ firstName: RouteTrie.NodeIndex,
            to modules: inout ModuleLists.Merged
        ) {
            modules.add(trie.nodes[Int(roots.firstNames)].rest)
            var node = firstName
            var depth = 1
            while node >= 0 {
                modules.add(trie.nodes[Int(node)].rest)
                guard trie.nodes[Int(node)].hasLiterals, depth < url.segmentCount else { break }
                node = trie.child(url[depth], of: node)
                depth += 1
            }
        }
    }
}

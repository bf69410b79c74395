import URLTrie

/// The texts of the paths that a plain trie has for the patterns of a sample: with the module's id, and without.
private func paths(of sample: RoutingSample) -> [(text: String, pattern: Int)] {
    sample.patterns.enumerated().flatMap { number, pattern in
        [
            (pattern.text, number),
            ("\(RoutingSample.moduleID(pattern.module))/\(pattern.text)", number),
        ]
    }
}

/// A trie of bytes in C, which copies the values into one block: the limit.
///
/// It has no access levels, no predicates, no order of modules and no errors with a place, and does not check which
/// characters a URL has.
final class CTrieWay: RoutingWay {
    private let trie = url_trie_create("slate")

    init(_ sample: RoutingSample) {
        for path in paths(of: sample) { url_trie_add(trie, path.text, Int32(path.pattern)) }
        url_trie_freeze(trie)
    }

    deinit { url_trie_destroy(trie) }

    func answer(_ request: RoutingSample.Request) throws -> Int {
        var match = url_match()
        let isFound = request.url.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                url_trie_match(trie, $0.baseAddress, $0.count, &match) == 0
            }
        }
        guard isFound == true, match.route == request.pattern, match.item_count == 1,
            Int(match.value_count) == request.names.count
        else { throw WrongAnswer(url: request.url) }
        defer { url_match_free(&match) }
        var count = match.items.1.count
        if match.value_count > 0 { count += match.values.0.count }
        if match.value_count > 1 { count += match.values.1.count }
        return count
    }
}

/// The same trie in plain Swift, with values that are strings of their own.
struct SwiftTrieWay: RoutingWay {
    private let trie: ByteTrie

    init(_ sample: RoutingSample) {
        var draft = ByteTrie.Draft()
        for path in paths(of: sample) { draft.add(path.text, route: path.pattern) }
        trie = ByteTrie(draft, scheme: "slate")
    }

    func answer(_ request: RoutingSample.Request) throws -> Int {
        guard let match = trie.match(request.url), match.route == request.pattern,
            match.values.count == request.names.count,
            let item = match.items.first(where: { $0.name == RoutingSample.itemName })
        else { throw WrongAnswer(url: request.url) }
        return match.values.reduce(item.value.utf8.count) { $0 + $1.utf8.count }
    }
}

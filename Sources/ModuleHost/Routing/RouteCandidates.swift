/// The patterns that match a URL, a candidate at a time, in the order of the dialect: absolute patterns, those of the
/// module that the URL names or else of each module in turn, those of the fallback.
///
/// It borrows the table and the URL, and references nothing: a candidate that is passed over is not counted.
struct RouteCandidates {
    /// The roots to search below next.
    private enum Stage {
        case module, modules, fallback, nothing
    }

    private var search: RouteSearch
    private let roots: RouteTable.Contents.Roots
    private var stage = Stage.nothing
    /// The root of the module that the URL names.
    private var module = RouteTrie.none
    /// The modules to search next, where it names none.
    private var modules: ModuleLists.Merged
    /// Whether the URL has an authority, which compares without case.
    private let isFolded: Bool
    /// Whether the last candidate is a pattern of a module that the URL does not name.
    private(set) var isOfUnnamedModule = false

    /// Memory for the choices of a search, and for the lists of modules to search.
    typealias Memory = (
        choices: UnsafeMutableBufferPointer<RouteSearch.Choice>,
        lists: UnsafeMutableBufferPointer<Int32>
    )

    /// Calls a closure with the memory for the candidates of a URL.
    @inline(__always)
    static func withMemory<Result>(for url: URLBytes, _ body: (Memory) -> Result) -> Result {
        withUnsafeTemporaryAllocation(
            of: RouteSearch.Choice.self, capacity: RouteSearch.choiceLimit(url)
        ) { choices in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: url.segmentCount + 1) { lists in
                body((choices, lists))
            }
        }
    }

    /// Creates the candidates for a URL.
    ///
    /// - Parameter root: The only root to search below; nil for all.
    @inline(__always)
    init(
        _ url: URLBytes, below root: RouteTrie.NodeIndex?, _ view: RouteTable.Contents.View,
        _ memory: Memory
    ) {
        search = RouteSearch(view.trie, url, memory.choices)
        modules = ModuleLists.Merged(view.listedModules, memory.lists)
        roots = view.roots
        isFolded = url.hasAuthority
        if let root { search.begin(at: root) } else { begin(url, view) }
    }

    @inline(__always)
    private mutating func begin(
        _ url: URLBytes, _ view: RouteTable.Contents.View
    ) {
        let scheme = view.scheme(url.scheme)
        stage = .fallback
        guard scheme >= 0 else { return }
        let names = view.trie.nodes[Int(scheme)]
        if names.rest >= 0 {
            let name =
                url.segmentCount == 0
                ? RouteTrie.none : view.firstName(url[0], search.firstHash)
            if isFolded { module = view.module(at: name) }
            if module >= 0 {
                stage = .module
            } else {
                stage = .modules
                view.addLists(for: url, name, to: &modules)
            }
        }
        if names.route >= 0 { search.begin(at: names.route) }
    }

    /// The segment from which the last candidate is matched.
    var first: Int { search.first }

    /// Returns the next candidate, or ``RouteTrie/none``.
    @inline(__always)
    mutating func next() -> RouteTrie.VariantIndex {
        repeat {
            let candidate = search.next()
            if candidate >= 0 { return candidate }
        } while advance()
        return RouteTrie.none
    }

    /// Goes on to the next root.
    ///
    /// - Returns: False where there is none.
    private mutating func advance() -> Bool {
        switch stage {
        case .module:
            stage = .fallback
            search.prepare(first: 1, isFolded: false)
            search.begin(at: module)
        case .modules:
            isOfUnnamedModule = true
            let next = modules.next()
            // The fallback is among the modules: another search in it would find nothing.
            guard next >= 0 else { return false }
            search.begin(at: next)
        case .fallback:
            stage = .nothing
            guard roots.fallback >= 0 else { return false }
            search.prepare(first: 0, isFolded: isFolded)
            search.begin(at: roots.fallback)
        case .nothing: return false
        }
        return true
    }
}

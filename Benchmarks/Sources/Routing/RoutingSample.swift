/// Patterns, and URLs that they answer, all with a query item.
///
/// Half of the patterns are static, a quarter has one placeholder and a quarter two. Some patterns, ten if nothing else is
/// said, make a section; sections belong to the modules in turn. Half of the URLs name the module.
struct RoutingSample {
    struct Pattern {
        let module: Int
        let text: String
        /// How many placeholders it has: the last of `names`.
        let nameCount: Int
    }

    struct Request {
        let url: String
        /// The pattern that answers.
        let pattern: Int
        /// The names of its placeholders.
        let names: [String]
    }

    /// As many for each number of patterns: what the URLs themselves take of the cache is the same.
    static let requestCount = 10_000
    /// The names of placeholders, by their number: few, as those of a module's request types are, and not
    /// a list for each pattern.
    private static let names = [[], ["id"], ["user", "id"]]
    /// The query item that each URL has.
    static let itemName = "style"

    let moduleCount: Int
    let patterns: [Pattern]
    let requests: [Request]

    static func moduleID(_ number: Int) -> String { "com.mm.module\(number)" }

    init(patternCount: Int, moduleCount: Int = 10, sectionSize: Int = 10) {
        self.moduleCount = moduleCount
        let patterns = (0..<patternCount).map { number in
            let section = number / sectionSize
            let (text, nameCount) =
                switch number % 4 {
                case 1: ("section\(section)/item\(number)/:id", 1)
                case 3: ("section\(section)/:user/post\(number)/:id", 2)
                default: ("section\(section)/page\(number)", 0)
                }
            return Pattern(module: section % moduleCount, text: text, nameCount: nameCount)
        }
        self.patterns = patterns
        var random = RequestNumbers()
        requests = (0..<Self.requestCount).map { _ in
            let pattern = random.next(below: patternCount)
            let value = random.next(below: 1_000_000)
            let path = patterns[pattern].text.split(separator: "/").map { part in
                switch part {
                case ":id": "\(value)"
                case ":user": "user\(value % 1_000)"
                default: String(part)
                }
            }.joined(separator: "/")
            let module = Self.moduleID(patterns[pattern].module)
            let head = value.isMultiple(of: 2) ? "slate://\(module)/" : "slate://"
            return Request(
                url: "\(head)\(path)?\(Self.itemName)=\(value % 100)", pattern: pattern,
                names: Self.names[patterns[pattern].nameCount])
        }
    }
}

/// Numbers that look random and are the same in each run.
private struct RequestNumbers {
    private var state: UInt64 = 20_261_121

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}

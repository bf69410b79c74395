/// A URL cut at its delimiters, with nothing decoded: as much as modules need while there is no
/// router.
struct URLParts {
    /// The scheme, as it is written.
    let scheme: Substring
    /// Authority and path between their slashes, empty ones left out.
    let segments: [Substring]
    /// The query between its ampersands.
    let query: [Substring]

    /// Cuts a URL, or says with nil that there is no scheme.
    init?(_ url: String) {
        let scheme = url.prefix { $0 != ":" }
        guard scheme.endIndex < url.endIndex, scheme.first?.isLetter == true,
            scheme.utf8.allSatisfy(Self.isSchemeByte)
        else { return nil }
        self.scheme = scheme
        let rest = url[url.index(after: scheme.endIndex)...].prefix { $0 != "#" }
        let path = rest.prefix { $0 != "?" }
        segments = path.split(separator: "/")
        query = rest[path.endIndex...].dropFirst().split(separator: "&")
    }

    /// The first value of a query item.
    func value(of name: String) -> Substring? {
        query.first { $0.hasPrefix("\(name)=") }?.dropFirst(name.count + 1)
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}

import Tracing

/// A carrier's one header, `traceparent`: a host carries no other one.
private struct TraceHeader: Extractor, Injector {
    func extract(key: String, from carrier: String?) -> String? {
        Self.isName(key) ? carrier : nil
    }

    func inject(_ value: String, forKey key: String, into carrier: inout String?) {
        if Self.isName(key) { carrier = value }
    }

    private static func isName(_ key: String) -> Bool { key.lowercased() == "traceparent" }
}

extension Instrument {
    /// Takes over what a `traceparent` says; leaves the context as it is for nil.
    func extract(_ traceparent: String?, into context: inout ServiceContext) {
        guard let traceparent else { return }
        extract(traceparent, into: &context, using: TraceHeader())
    }

    /// Returns the `traceparent` of a context; nil where the instrument writes none that a host passes on.
    func traceparent(of context: ServiceContext) -> String? {
        var header: String?
        inject(context, into: &header, using: TraceHeader())
        return header.flatMap { Self.isPassedOn($0) ? $0 : nil }
    }

    /// Returns whether a host passes a text on as it is: a `traceparent` of version 00.
    private static func isPassedOn(_ text: String) -> Bool {
        let fields = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.map(\.count) == [2, 32, 16, 2], fields[0].elementsEqual("00".utf8) else {
            return false
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return fields.joined().allSatisfy { digits ~= $0 || letters ~= $0 }
            && fields[1...2].allSatisfy { $0.contains { $0 != UInt8(ascii: "0") } }
    }
}

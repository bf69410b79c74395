import TestSupport
import Testing

@testable import ModuleHostCore

/// Whatever the strings, what was built from a pattern and values reads back as the same values.
@Suite("Building URLs, for every string")
struct RouteBuildingPropertyTests {
    static let module = ModuleID(checked: "com.mm.m")

    /// 2 000 seeded patterns, each filled 10 times.
    @Test("what was built reads back the same, or was refused for a reason that holds")
    func readBack() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        var patterns = 0
        var built = 0
        while patterns < 2_000 {
            // Some repeat a name or have a dot for a segment.
            guard let pattern = try? RoutePattern(Self.pattern(&generator)) else { continue }
            patterns += 1
            for _ in 0..<10 {
                let parameters = RouteParameters(list: Self.values(for: pattern, &generator))
                do {
                    try check(pattern, parameters)
                    built += 1
                } catch {
                    guard case RouteError.building(_, let reason) = error else { throw error }
                    try check(reason, parameters)
                }
            }
        }
        // Most values fit, so that something was checked.
        #expect(built > 10_000)
    }

    private func check(_ pattern: RoutePattern, _ parameters: RouteParameters) throws {
        let url =
            pattern.isAbsolute
            ? try pattern.url(parameters)
            : try pattern.url(parameters, scheme: "slate", module: Self.module)
        let back = try pattern.parameters(of: RouteURL(url), from: pattern.isAbsolute ? 0 : 1)
        // Not `#expect`: so often, it costs more than what it checks.
        guard let back, back.names.count == parameters.names.count,
            parameters.all.allSatisfy({ given in
                guard let values = back.values(of: given.name) else { return false }
                return values.count == given.values.count
                    && zip(values, given.values).allSatisfy(isSameText)
            })
        else {
            Issue.record("\(url) of \(pattern) reads back as \(back?.all ?? [])")
            return
        }
    }

    private func check(
        _ error: RouteError.BuildingError, _ parameters: RouteParameters
    ) throws {
        switch error {
        case .missing(let name):
            #expect(parameters.values(of: name) ?? [] == [], "\(name) is there")
        case .segment(_, let value):
            #expect(value.isEmpty || value == "." || value == "..", "\(value) is a segment")
        // Two forms of a pattern with groups may match the same URL, each in its own way.
        case .ambiguous: break
        default: Issue.record("\(error)")
        }
    }

    // MARK: Patterns and values

    /// A pattern of literals, placeholders, suffixes, groups, a catch-all and query parameters, whose
    /// names and literals are strings of all kinds.
    private static func pattern(_ generator: inout SeededGenerator) -> String {
        var path: [String] = []
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            let part =
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: escaped(text(1..<5, &generator))
                case 1: ":\(name(&generator)).\(escaped(text(1..<3, &generator)))"
                default: ":\(name(&generator))"
                }
            path.append(Int.random(in: 0..<4, using: &generator) == 0 ? "(\(part)/)" : part + "/")
        }
        if Int.random(in: 0..<3, using: &generator) == 0 { path.append("*\(name(&generator))") }
        let query = (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
            let name = name(&generator)
            return "\(name)=:\(name)"
        }.joined(separator: "&")
        return (Bool.random(using: &generator) ? "mgj://" : "") + path.joined()
            + (query.isEmpty ? "" : "?\(query)")
    }

    private static func values(
        for pattern: RoutePattern, _ generator: inout SeededGenerator
    ) -> [(name: String, values: [String])] {
        let rest = pattern.variants.compactMap(\.binding.rest?.name).first
        return (pattern.names + pattern.queryNames).compactMap { name in
            if Int.random(in: 0..<12, using: &generator) == 0 { return nil }
            let isList = name == rest || pattern.queryNames.contains(name)
            let count = isList ? Int.random(in: 1...3, using: &generator) : 1
            return (name, (0..<count).map { _ in text(0..<7, &generator) })
        }
    }

    private static func name(_ generator: inout SeededGenerator) -> String {
        let letters = ["a", "B", "7", "_", "-", "é", "e\u{301}", "城", "😀"]
        return (0..<Int.random(in: 1..<4, using: &generator)).map { _ in
            letters.randomElement(using: &generator) ?? "a"
        }.joined()
    }

    /// Any text: half of its characters have a meaning somewhere, the others come from anywhere.
    private static func text(
        _ count: Range<Int>, _ generator: inout SeededGenerator
    ) -> String {
        let special = Array("/?#%&=:@.+*()[] \0\\é城😀\u{301}%2F").map(String.init)
        return (0..<Int.random(in: count, using: &generator)).map { _ in
            Bool.random(using: &generator)
                ? special.randomElement(using: &generator) ?? ""
                : String(Unicode.Scalar(UInt32.random(in: 0..<0xD800, using: &generator)) ?? "a")
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(percentEncoding: text.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }
}

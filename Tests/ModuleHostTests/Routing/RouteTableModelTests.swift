import TestSupport
import Testing

@testable import ModuleHostCore

/// Random tables, and URLs to them, against the reference.
@Suite("RouteTable against the reference")
struct RouteTableModelTests {
    static let modules = ["com.mm.a", "com.mm.b", "com.mm.c"]
    static let parts = [
        "a", "b", "A", "B", "aB", ":x", ":x", ":x.h", ":x.H", ":x.g.h", "é", "a%2Fb", "(a)", "(:x)",
        "*r", ":x<int>", ":x<int>", ":x<uuid>", ":x<date>", ":x<int>.h", ":x<date>.h", "7",
    ]
    static let segments = [
        "a", "b", "A", "B", "ab", "aB", "AB", "x.h", "x.H", "x.g.h", "x.G.H", ".h", "é", "É", "a/b",
        "z", "7", "-7", "7.h", "99999999999999999999", "2026-03-01", "2026-02-30", "2026-03-01.h",
        "0f8fad5b-d9cb-469f-a165-70867728950E",
    ]

    static func pattern(_ generator: inout SeededGenerator) -> String {
        let path = (0..<Int.random(in: 0...4, using: &generator)).map { index in
            (parts.randomElement(using: &generator) ?? "a")
                .replacing("x", with: "x\(index)").replacing("r", with: "r\(index)")
        }.joined(separator: "/")
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return "s://" + path
        case 1: return "web://" + path
        default: return path.isEmpty ? "/" : path
        }
    }

    static func address(
        _ generator: inout SeededGenerator, modules: [String] = modules
    ) -> ReferenceMatcher.Address {
        var segments = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
            Self.segments.randomElement(using: &generator) ?? "a"
        }
        var hasAuthority = Bool.random(using: &generator)
        if Int.random(in: 0..<3, using: &generator) == 0 {
            let module = modules.randomElement(using: &generator) ?? ""
            segments.insert(
                Bool.random(using: &generator) ? module : module.uppercased(), at: 0)
        }
        if segments.isEmpty { hasAuthority = false }
        let scheme = ["s", "S", "web", "other"].randomElement(using: &generator) ?? "s"
        return ReferenceMatcher.Address(
            scheme: scheme, hasAuthority: hasAuthority, segments: segments)
    }

    /// The URL, with some characters escaped that need not be.
    static func write(
        _ address: ReferenceMatcher.Address, _ generator: inout SeededGenerator
    ) -> String {
        let path = address.segments.map { segment in
            segment.utf8.map { byte in
                let isPlain = byte != UInt8(ascii: "/") && byte < 0x80
                if isPlain, Int.random(in: 0..<4, using: &generator) > 0 {
                    return String(Unicode.Scalar(byte))
                }
                return "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
        }.joined(separator: "/")
        return address.scheme + (address.hasAuthority ? "://" : ":/") + path
    }

    /// 2 000 tables, ten URLs each, with some routes that may not answer; every other table lost some
    /// of its routes and was given them again.
    ///
    /// Further tables have so many modules that the lists of them are long.
    @Test(
        "the same routes are asked in the same order, and the same one answers",
        arguments: [
            (modules: modules, patterns: 1...12, tables: 2_000),
            (modules: (0..<30).map { "com.mm.m\($0)" }, patterns: 30...120, tables: 100),
        ])
    func same(modules: [String], patterns: ClosedRange<Int>, tables: Int) throws {
        var generator = SeededGenerator(seed: 20_261_121)
        for _ in 0..<tables {
            let fallback = (modules + [nil]).randomElement(using: &generator) ?? nil
            var reference = ReferenceMatcher(
                schemes: ["s"], modules: modules, fallback: fallback, routes: [])
            var table = try RouteTable(
                schemes: ["s"], modules: modules.map { ModuleID(checked: $0) },
                fallback: fallback.map { ModuleID(checked: $0) })
            for _ in 0..<Int.random(in: patterns, using: &generator) {
                let module = modules.randomElement(using: &generator) ?? ""
                let text = Self.pattern(&generator)
                // Some are malformed, or in conflict with one before.
                guard let route = try? AnyRoute.plain(text),
                    let index = try? table.add(route, of: ModuleID(checked: module))
                else { continue }
                reference.routes.append(.init(module: module, pattern: route.pattern))
                if Bool.random(using: &generator), let removed = table.remove(index) {
                    try table.add(removed.route, of: removed.module)
                }
            }
            for _ in 0..<10 {
                let address = Self.address(&generator, modules: modules)
                let url = Self.write(address, &generator)
                let refused = Set(
                    reference.routes.map(\.pattern.text).filter { _ in
                        Bool.random(using: &generator)
                    })
                var asked: [String] = []
                let match = try table.match(RouteURL(url)) { entry, _ in
                    asked.append("\(entry.module) \(entry.route.pattern)")
                    return !refused.contains(entry.route.pattern.text)
                }
                let candidates = reference.candidates(address)
                let first = candidates.firstIndex { !refused.contains($0.pattern.text) }
                let expected = candidates[..<(first.map { $0 + 1 } ?? candidates.count)]
                    .map { "\($0.module) \($0.pattern)" }
                if asked != expected || (match == nil) != (first == nil) {
                    Issue.record("\(url): \(asked) for \(expected) of \(reference.routes)")
                }
            }
        }
    }
}

import FuzzDriver

@testable import ModuleHostCore

@main
enum RoutingFuzz {
    static func main() { runFuzzer(fuzz) }
}

/// Reads the input up to the first line break as a pattern and the rest as a URL, matches the one with
/// the other, and builds from what was bound.
///
/// Whatever is read must be whole, and what is built must read back the same.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let url = read(Array(bytes.dropFirst(line.count + 1)))
    do throws(RoutePatternError) {
        let pattern = try RoutePattern(String(decoding: line, as: UTF8.self))
        if let url, let parameters = pattern.parameters(of: url) { rebuild(pattern, parameters) }
    } catch {
        if error.description.isEmpty { fatalError("a error without words") }
    }
    return 0
}

private func read(_ bytes: [UInt8]) -> RouteURL? {
    do throws(RouteURLError) {
        let url = try RouteURL(bytes: bytes)
        let isWhole = url.segments.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        if !isWhole || url.segments.count > 64 || url.query.count > 256 {
            fatalError("a segment that no URL has")
        }
        return url
    } catch {
        if error.offset < 0 || error.offset > bytes.count { fatalError("a error beside the text") }
        return nil
    }
}

private func rebuild(_ pattern: RoutePattern, _ parameters: RouteParameters) {
    guard pattern.isAbsolute,
        let built = try? pattern.url(parameters, queryNames: parameters.names)
    else { return }
    guard let again = read(Array(built.utf8)), pattern.parameters(of: again) == parameters else {
        fatalError("what was built reads back otherwise")
    }
}

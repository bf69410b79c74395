import FuzzDriver

@testable import ModuleHostCore

@main
enum SlatefileFuzz {
    static func main() { runFuzzer(fuzz) }
}

/// Reads the input as a slatefile, shows its errors, and decodes what a module would.
///
/// Most inputs are made of errors; what is shown of them has nothing in it that a terminal obeys.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(SlatefileError) {
        let slatefile = try Slatefile.read(
            bytes, path: "fuzz.json",
            environment: { $0.count < 5 ? "value of \($0)" : nil },
            checkEntry: check)
        if let config = slatefile.config, "\(config)".isEmpty { fatalError("a value without text") }
    } catch {
        if error.diagnostics.isEmpty || error.rendered(colored: true).isEmpty {
            fatalError("an error without errors")
        }
        check(error.rendered(colored: false))
    }
    return 0
}

/// Traps where a text has a control character, or one that turns the direction of writing.
private func check(_ text: String) {
    for scalar in text.unicodeScalars where scalar != "\n" && scalar != "\t" {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: fatalError("a control character")
        case .format where scalar.properties.isBidiControl: fatalError("a mark of direction")
        default: break
        }
    }
}

private struct Settings: Decodable {
    struct Nested: Decodable {
        var domain: String?
        var history: UInt8?
        var interval: Duration?
    }
    var nested: Nested?
    var list: [Nested]?
    var numbers: [String: Double]?
    var raw: JSONValue?
}

private func check(_ use: EntryUse) -> [EntryDiagnostic] {
    guard let config = use.config else { return [.entry("no config")] }
    do throws(JSONError) {
        let settings = try config.decode(Settings.self)
        return settings.raw == use.appConfig ? [] : [.entry("another config")]
    } catch {
        return [.config(.placed(error))]
    }
}

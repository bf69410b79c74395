/// The names of a new module: all follow from its id.
struct ModuleNames: Hashable, Sendable {
    /// The id, such as `com.example.weather-report`.
    let id: ModuleID
    /// The last part of the id, `weather-report`.
    let label: String
    /// The name of its class, `WeatherReportModule`.
    let type: String
    /// The name of its file in Python without the extension, `weather_report_module`: no name of the standard
    /// library, and no keyword, ends like that.
    let file: String

    /// - Throws: The error in the id, with a valid suggestion.
    init(_ text: String) throws(NameError) {
        do throws(ModuleID.ParsingError) {
            id = try ModuleID(text)
        } catch {
            throw NameError(message: "\(error)" + Self.offer(insteadOf: text, error))
        }
        label = String(text.split(separator: ".").last ?? "")
        guard label.first?.isLetter == true else {
            let better = text.dropLast(label.count) + "module-\(label)"
            throw NameError(
                message: "'\(label)', of which a class is to be named, must begin with a letter; "
                    + "write '\(better)'?")
        }
        let words = label.split(separator: "-")
        type = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "Module"
        file = words.joined(separator: "_").lowercased() + "_module"
    }

    /// The id of a module beside this one.
    var main: String {
        id.text.dropLast(label.count) + (label.lowercased() == "main" ? "root" : "main")
    }

    struct NameError: Error, Hashable {
        let message: String
    }

    private static func offer(insteadOf text: String, _ error: ModuleID.ParsingError) -> String {
        // That error has its own suggestion.
        if case .singlePart = error { return "" }
        let parts = text.split(separator: ".").map { part in
            part.split { !$0.isASCII || !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        }
        let name = parts.filter { !$0.isEmpty }.joined(separator: ".")
        let candidates = [name, "com.example.\(name)"]
        let better = candidates.first { (try? ModuleID($0)) != nil }
        return better.map { "; write '\($0)'?" } ?? ""
    }
}

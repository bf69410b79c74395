extension Command {
    static let config = Command(
        name: "config", summary: "print the slatefile in effect with all defaults",
        discussion: """
            Prints the slatefile that the host runs with, as a slatefile: with every default written, the
            modules that are left out or isolated since hosts died, and the deadlines that follow from others.
            ${NAME} stays as it is written: the values of variables are not shown.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes, exitMeanings: clientExitMeanings,
        examples: [
            Example(line: "config", explanation: "the slatefile in effect"),
            Example(line: "config --json", explanation: "the same on one line"),
        ],
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let config = try call.client.call("config")
                return arguments.has("json")
                    ? Console.write(json: config)
                    : Console.write(json: "\(indented(config))\n".utf8)
            }
        })

    /// Returns a value as JSON with a line for each member; what fits one line stays on it.
    private static func indented(_ value: JSONValue, at indentation: String = "") -> String {
        var line = JSONWriter()
        line.value(value)
        let text = String(decoding: line.bytes, as: UTF8.self)
        if indentation.count + text.utf8.count <= helpWidth, !indentation.isEmpty { return text }
        let next = indentation + "  "
        func block(_ open: String, _ lines: [String], _ close: String) -> String {
            "\(open)\n\(lines.map { next + $0 }.joined(separator: ",\n"))\n\(indentation)\(close)"
        }
        switch value.kind {
        case .object where value.count > 0:
            let lines = value.members.map { member in
                var key = JSONWriter()
                key.value(member.key)
                let name = String(decoding: key.bytes, as: UTF8.self)
                return "\(name): \(indented(member.value, at: next))"
            }
            return block("{", lines, "}")
        case .array where value.count > 0:
            return block("[", value.elements.map { indented($0, at: next) }, "]")
        default: return text
        }
    }
}

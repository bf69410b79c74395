/// The commands of an operator; without one the program is a module.
public enum SlateFetchCommand {
    private struct Command: Sendable {
        let name: String
        let help: String
        let run: @Sendable ([String]) throws -> String
    }

    private static let commands: [Command] = [
        Command(name: "keygen", help: KeyCommands.keygenHelp, run: KeyCommands.keygen),
        Command(name: "sign", help: PublishCommands.signHelp, run: PublishCommands.sign),
        Command(name: "verify", help: VerifyCommand.help, run: VerifyCommand.run),
    ]

    /// Runs the command of some words, and ends the process; returns if there are none.
    ///
    /// - Parameter words: The arguments of the process, without its name.
    public static func run(_ words: [String]) {
        guard let name = words.first else { return }
        let (text, code) = outcome(name, Array(words.dropFirst()))
        Terminal.write(text, toError: code != 0)
        Terminal.exit(code)
    }

    private static func outcome(_ name: String, _ words: [String]) -> (String, Int32) {
        if ["--help", "-h", "help"].contains(name) { return (help, 0) }
        guard let command = commands.first(where: { $0.name == name }) else {
            return (
                "slate-fetch: '\(name)' is not a command: those are \(commands.map(\.name).joined(separator: ", ")); see 'slate-fetch --help'",
                CommandError.Code.usage.rawValue
            )
        }
        if words.contains(where: { ["--help", "-h"].contains($0) }) { return (command.help, 0) }
        do {
            return (try command.run(words), 0)
        } catch let error as CommandError {
            let more = error.code == .usage ? "; see 'slate-fetch \(name) --help'" : ""
            return ("slate-fetch \(name): \(error.text)\(more)", error.code.rawValue)
        } catch let report as Report {
            let error = CommandError(report)
            return ("slate-fetch \(name): \(error.text)", error.code.rawValue)
        } catch {
            return ("slate-fetch \(name): \(error)", CommandError.Code.noInput.rawValue)
        }
    }

    static let help = """
        usage: slate-fetch COMMAND …

          keygen  create a pair of keys
          sign    sign a slatefile and publish it for a share of the hosts
          verify  check what is published

        Each has a --help. Without a command it is a module, which a host starts:

          { "id": "com.example.slate-fetch", "command": ["slate-fetch"],
            "may": ["apply"], "replace": "stop-first", "config": {
              "source": "/srv/slates/shop.json", "keys": ["ed25519:…"] } }

        exit: 0 done; 64 wrong usage; 65 not valid, or refused; 66 nothing there, or
        not readable; 69 Redis does not answer; 73 a file cannot be written
        """
}

import AppService

extension Command {
    static let apply = Command(
        name: "apply", summary: "apply a slatefile on probation",
        discussion: """
            The host reloads from FILE in place of its slatefile, and watches its modules. If one fails, or
            becomes unresponsive or restarts more often than in as long a time before, the former slatefile
            takes effect again at once. Otherwise FILE takes the place of the slatefile's file; the former
            one is kept beside it, as SLATEFILE.previous.

            Until then the file is as it was: a host that ends meanwhile starts with it again. 'reload', HUP,
            'disable' and 'enable' read it, and so end the probation; Ctrl-C ends this command alone. Relative
            paths in FILE mean the folder of the slatefile that it replaces. FILE has at most 1 MiB, as a
            string of JSON: replace the file of a larger one, and 'reload'.
            """,
        operands: [
            Operand(
                placeholder: "FILE", isRequired: true, help: "the new slatefile; - for stdin")
        ],
        options: [
            Option(
                name: "probation", placeholder: "TIME",
                help:
                    "how long (default: \(HostClient.probation.briefText); 0 for none; at most 1h)"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings.merging([
            .success: "the slatefile is kept, or nothing changed",
            .unavailable: "no host runs on the state directory, or it stopped first",
            .failed: "rolled back, for the reason on stderr; the file is as before",
            .busy: "another slatefile is on probation, or a reload took its place; or try again",
            .noInput: "FILE cannot be read",
            .invalidSlatefile: "refused: FILE is not a valid slatefile, or too large",
        ]) { $1 },
        examples: [
            Example(line: "apply next.json", explanation: "keep it after a minute"),
            Example(
                before: "ssh build cat next.json | ", line: "apply - --probation 10m",
                explanation: "from elsewhere"),
        ],
        usageError: { arguments in
            do throws(DurationError) {
                let isWithin = HostClient.probations.contains(try probation(arguments))
                return isWithin ? nil : "--probation: at most 1h"
            } catch {
                return "--probation: \(error)"
            }
        },
        run: { arguments in
            let name = arguments.operands[0] == "-" ? "stdin" : arguments.operands[0]
            let text: String
            do throws(InputFailure) {
                text = try newSlatefile(arguments.operands[0], "\(excerpt(name, limit: 4096))")
            } catch {
                Console.printError("\(arguments.title): \(error.message)")
                return error.exitCode
            }
            return HostCall.run(arguments) { call throws(HostClientError) in
                let progress = ProbationProgress(of: call.client)
                progress.begin()
                defer { progress.end() }
                let length = (try? probation(arguments)) ?? HostClient.probation
                // No limit on the wait: every step of a reload has a deadline of its own.
                let report = try call.client.call("apply", within: nil) {
                    HostClient.writeApply(text, named: name, probation: length, to: &$0)
                }
                progress.end()
                return writeReload(report, arguments)
            }
        })

    private static func probation(_ arguments: Arguments) throws(DurationError) -> Duration {
        guard let text = arguments["probation"] else { return HostClient.probation }
        return text == "0" ? .zero : try Duration(reading: text)
    }

    /// Reads the new slatefile.
    private static func newSlatefile(_ path: String, _ name: TerminalText) throws(InputFailure)
        -> String
    {
        let limit = HostClient.applyLimit
        let tooLarge = InputFailure(
            "\(name) has more than 1 MiB as a string of JSON: replace the slatefile's file, and 'reload'",
            .invalidSlatefile)
        guard let bytes = try bytes(path, limit: limit) else { throw tooLarge }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InputFailure("\(name) is not UTF-8", .invalidSlatefile)
        }
        var json = JSONWriter(capacity: bytes.count)
        json.value(text)
        guard json.bytes.count <= limit else { throw tooLarge }
        return text
    }

    /// Returns the bytes of a file, or of stdin; nil where there are more than the limit.
    private static func bytes(_ path: String, limit: Int) throws(InputFailure) -> [UInt8]? {
        if path == "-" { return try RawInput.standardInputBytes(limit: limit) }
        do throws(FileReadError) {
            return try readFile(at: path, limit: limit)
        } catch {
            if case .tooLarge = error.reason { return nil }
            throw InputFailure("\(error)", .noInput)
        }
    }
}

/// The text on a terminal while a slatefile is on probation.
private final class ProbationProgress: Sendable {
    private let client: HostClient
    private let isOver: Guarded<Bool>

    /// Shows nothing if stderr is not a terminal.
    init(of client: HostClient) {
        self.client = client
        isOver = Guarded(!Console.showsStates)
    }

    /// Shows the state now, and then each second.
    func begin() {
        guard !isOver.withLock(\.self) else { return }
        client.connection.call(
            "status", as: client.connection.nextID(), within: HostClient.patience,
            { $0.object { _ in } },
            completion: { [self] result in
                if let status = try? result.get() { show(status) }
                SystemTimeSource.shared.schedule(after: .seconds(1)) { [self] in begin() }
            })
    }

    private func show(_ status: JSONValue) {
        let modules = status["modulesRunning"]?.int ?? 0
        let run = modules == 1 ? "1 module runs" : "\(modules) modules run"
        let step =
            status["probationMs"]?.int.map {
                "on probation for \(Duration.seconds(($0 + 999) / 1000).briefText) more"
            }
            ?? "reloading"
        isOver.withLock { if !$0 { Console.showState("\(step): \(run)") } }
    }

    /// Removes the text.
    func end() {
        isOver.withLock { isOver in
            if !isOver { Console.showState("") }
            isOver = true
        }
    }
}

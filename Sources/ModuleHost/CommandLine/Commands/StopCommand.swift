import AppService

extension Command {
    static let stop = Command(
        name: "stop", summary: "stop the host and print the outcome",
        discussion: """
            Modules are notified in their order, as by SIGTERM. Ctrl-C ends this command, not the stop.

            A module that was unresponsive before does not make the stop fail: the host waits for it for
            deadlines.stop (10 s), and the next host delivers the events of the inbox that it has left.

            With --now, no module is notified, and the processes of modules are killed, as after a second
            SIGTERM or SIGINT. Nothing that was accepted by the inbox is lost. The host exits with 70.
            """,
        options: [
            Option(
                name: "within", placeholder: "TIME",
                help: "how long the stop may take (default: deadlines.stopAll, 30s)"),
            Option(name: "now", help: "end the host at once; no module is notified"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "the host has stopped; with --now, it has ended",
            .failed: "the host ended, but did not stop cleanly",
            .busy: "the host is starting or ending, or has not ended in time",
        ]) { $1 },
        usageError: { arguments in
            if arguments.has("now"), arguments["within"] != nil {
                return "--now and --within exclude each other"
            }
            do throws(DurationError) {
                _ = try arguments.stopLimit
                return nil
            } catch {
                return "--within: \(error)"
            }
        },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let limit = try limit(of: call)
                let deadline = ContinuousClock.now + limit
                do throws(HostClientError) {
                    let outcome = try outcome(of: call, by: deadline)
                    if PidFile.waitForRelease(of: call.directory, within: deadline - .now) {
                        return report(
                            outcome, of: call.directory, arguments)
                    }
                } catch {
                    guard case .noResponse = error else { throw error }
                }
                let process = call.client.hostProcessID.map { "\($0)" } ?? "PID"
                Console.printError(
                    """
                    \(arguments.title): process \(process) has not ended within \
                    \(limit.briefText), though it should have
                    'kill -KILL \(process)' ends it at once
                    """)
                return .busy
            }
        })

    /// Returns the time that the stop may take: the host itself ends one that takes longer.
    private static func limit(
        of call: borrowing HostCall
    ) throws(HostClientError) -> Duration {
        if call.arguments.has("now") { return ControlledDaemon.exitTime }
        if let limit = try? call.arguments.stopLimit { return limit + ControlledDaemon.exitTime }
        do throws(HostClientError) {
            let about = try call.client.call("about")
            guard let limit = about["stopMs"]?.int else { throw .malformed(call.directory) }
            return .milliseconds(limit)
        } catch {
            // Another client has stopped it, and it has ended.
            guard case .ended = error else { throw error }
            return HostClient.patience
        }
    }

    /// Requests the stop and waits for the host's end.
    ///
    /// - Returns: The report of the host; nil where it ended without one.
    private static func outcome(
        of call: borrowing HostCall, by deadline: ContinuousClock.Instant
    ) throws(HostClientError) -> JSONValue? {
        let (limit, now) = (try? call.arguments.stopLimit, call.arguments.has("now"))
        do throws(HostClientError) {
            let outcome = try call.client.call("stop", within: deadline - .now) {
                HostClient.writeStop(within: limit, now: now, to: &$0)
            }
            _ = call.client.waitForEnd(within: deadline - .now)
            return outcome
        } catch {
            guard case .ended = error else { throw error }
            return nil
        }
    }

    private static func report(
        _ outcome: JSONValue?, of directory: StateDirectory, _ arguments: Arguments
    ) -> ExitCode {
        let asJSON = arguments.has("json")
        if arguments.has("now") {
            // A host that ends at once need not have sent the outcome.
            let json = outcome ?? .emptyObject
            return asJSON ? Console.write(json: json, then: .success) : Console.write("ended\n")
        }
        guard let outcome else {
            // Another client may have stopped it, which has the outcome.
            if PidFile.isLetGo(in: directory) {
                return Console.write(asJSON ? "{\"outcome\":\"stopped\"}\n" : "stopped\n")
            }
            Console.printError("\(arguments.title): the host was killed before it had stopped")
            return .failed
        }
        let code: ExitCode = outcome["outcome"]?.string == "stopped" ? .success : .failed
        if asJSON { return Console.write(json: outcome, then: code) }
        switch outcome["outcome"]?.string {
        case "stopped": return Console.write("stopped\n")
        case "overdue":
            let modules = outcome["modules"]?.elements.compactMap(\.string) ?? []
            guard !modules.isEmpty else {
                Console.printError(
                    "\(arguments.title): the stop took too long; the host was still busy"
                )
                break
            }
            Console.printError(
                "\(arguments.title): the stop took too long; left behind: \(modules.joined(separator: ", "))"
            )
        default:
            Console.printError(
                "\(arguments.title): stopped: \(outcome["reason"]?.string ?? outcome.text)")
        }
        return code
    }
}

extension Arguments {
    /// The time that the stop may take, of `--within`; nil without it.
    fileprivate var stopLimit: Duration? {
        get throws(DurationError) {
            guard let text = self["within"] else { return nil }
            return try Duration(reading: text)
        }
    }
}

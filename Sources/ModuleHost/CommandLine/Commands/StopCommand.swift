import AppService

extension Command {
    static let stop = Command(
        name: "stop", summary: "stop the host and print the outcome",
        discussion: """
            Modules are notified in their order, as by SIGTERM. Ctrl-C ends this command, not the stop.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .failed: "the host ended, but did not stop cleanly",
            .busy: "the host is starting or ending, or has not ended in time",
        ]) { $1 },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let limit = try limit(of: call)
                let deadline = ContinuousClock.now + limit
                do throws(HostClientError) {
                    let outcome = try outcome(from: call.client, by: deadline)
                    if PidFile.waitForRelease(of: call.directory, within: deadline - .now) {
                        return report(
                            outcome, of: call.directory, arguments)
                    }
                } catch {
                    guard case .timedOut = error else { throw error }
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
        from client: HostClient, by deadline: ContinuousClock.Instant
    ) throws(HostClientError) -> JSONValue? {
        do throws(HostClientError) {
            let outcome = try client.call("stop", within: deadline - .now)
            _ = client.waitForEnd(within: deadline - .now)
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
                    "\(arguments.title): the stop took too long; the host was still busy, no module was unresponsive"
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

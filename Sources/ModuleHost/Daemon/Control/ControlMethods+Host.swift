extension ControlMethods {
    /// Creates the methods of a host.
    ///
    /// A host without a reloader, which is embedded in a program, refuses those that would exchange its slatefile.
    ///
    /// - Parameter controlled: The host.
    init(of controlled: ControlledDaemon) {
        let host = controlled.host
        missingModule = { host.missingModule($0) }
        add(controlled)
        addHealth(of: host)
        addWait(for: host)
        addConfig(of: host)
        addStartup(of: host)
        addTimeline(of: host)
        addWhy(of: controlled)
        addMetrics(of: host)
        if let reloader = controlled.reloader {
            add(reloader)
            addDisabling(by: reloader)
        } else {
            for method in ["apply", "reload"] {
                self[method] = {
                    $0.reply.fail(
                        .embedded("keeps its slatefile", "restart the program to change that"))
                }
            }
            for method in ["disable", "enable"] {
                self[method] = {
                    $0.reply.fail(
                        .embedded(
                            "keeps its modules",
                            "stop the program, run the command, and start the program"))
                }
            }
        }
        addCalls(to: host)
        addRestart(
            to: host,
            RestartNotes(of: controlled.reloader, since: controlled.identity.startedAt))
        addUnload(to: host)
        addLogLevel(of: host)
        add(controlled.inbox, of: host)
        add(routesOf: host.slatefile.app) { host.routes($0) }
        logFailures(to: host.log, time: host.time, ring: host.ring) { host.routes($0) }
    }
}

extension RPCError {
    /// Creates the error for what an embedded host cannot do.
    ///
    /// - Parameters:
    ///   - what: What the host does instead, phrased to follow "the host".
    ///   - advice: What to do.
    static func embedded(_ what: String, _ advice: String) -> RPCError {
        RPCError(.unavailable, "the host is embedded in a program and \(what)", detail: advice)
    }
}

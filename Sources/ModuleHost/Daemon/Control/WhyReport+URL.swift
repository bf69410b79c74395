import AppService

extension WhyReport {
    /// Returns whether a text may be a URL; the id of an event may be one, too.
    package static func isURL(_ text: String) -> Bool { text.contains(bytesOf: "://") }
}

extension RouteAccess {
    /// The callers, in words that follow the route.
    fileprivate var inWords: String {
        switch self {
        case .local: "only for modules of the app"
        case .authorized: "from outside only with a token"
        case .public: "for every caller"
        }
    }
}

extension RouteTable.Entry {
    fileprivate var inWords: String {
        "route \(quoted(route.pattern.text)), \(route.access.inWords)"
    }
}

extension WhyKnowledge {
    /// Returns the report about a URL: the route that would answer it, and what is the matter with its module.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - openness: Whether the caller could open it.
    ///   - routes: The routes.
    func report(
        of url: RouteURL, _ openness: CallDispatcher.Openness, _ routes: RouteTable
    ) throws(RouteError) -> WhyReport {
        let path = url.withoutQuery
        var report = WhyReport(isRunning: true, "\(path): nothing answers it", at: now)
        let target = url.target
        report.record =
            record?.last(WhyReport.entries) { entry in
                if case .called(let call) = entry.fact { call.target == target } else { false }
            } ?? []
        // The one that a module of the app would reach, where the caller does not.
        let best = try routes.match(url)
        guard let entry = openness.entry ?? best?.entry else {
            var finding = WhyReport.Finding(nil, "no route")
            finding.reason = "\(routes.notFound(url) { _ in true })"
            finding.command = "\(program) routes"
            report.findings = [finding]
            return report
        }
        let id = entry.module
        report.summary = "\(path): \(id) answers it"
        if let rewritten = best?.url?.withoutQuery, rewritten != path {
            report.summary += ", as \(rewritten)"
        }
        var finding = WhyReport.Finding(nil, openness.isOpen ? "opens" : "does not open")
        finding.reason = entry.inWords
        if let instead = openness.instead {
            finding.next = "\(instead.module) has failed: \(instead.url) is opened instead"
        }
        let status = modules.first { $0.id == id }
        let module = status.map { self.report(of: $0).findings[0] }
        if !openness.isOpen, openness.entry != nil {
            finding.reason? += "; its parameters cannot be read"
        } else if !openness.isOpen, [.running, .onDemand].contains(status?.state) {
            finding.reason? +=
                "; its access, its predicate or an interceptor keeps it from this caller"
        } else if let best = best?.entry, best !== entry {
            finding.reason? += "; \(best.module) would answer it by its \(best.inWords)"
        }
        report.findings = [finding] + [module].compactMap(\.self)
        return report
    }
}

extension ControlledDaemon {
    /// Reports what would answer a URL, and what is the matter with its module.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - origin: The origin of the question: whether that could open it.
    ///   - onControlThread: As for ``why(_:from:onControlThread:_:)``.
    ///   - completion: As for that.
    func why(
        url text: String, from origin: Origin,
        onControlThread: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
        _ completion: @escaping @Sendable (Result<WhyReport, RPCError>) -> Void
    ) {
        host.openness(of: text, origin: origin, token: nil) { [self] openness in
            host.routes { [self] routes in
                modules { [self] modules in
                    onControlThread { [self] in
                        completion(
                            Result { () throws(RPCError) in
                                try report(of: text, openness, routes, modules)
                            })
                    }
                }
            }
        }
    }

    private func report(
        of text: String, _ openness: Result<CallDispatcher.Openness, any Error>,
        _ routes: Result<RouteTable, any Error>, _ modules: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyReport {
        let knowledge = try knowledge(of: modules)
        do {
            let routes = try routes.get()
            let (url, _) = try RouteURL(text).separatingToken()
            return try knowledge.report(of: url, try openness.get(), routes)
        } catch let error as RouteURLError {
            throw RPCError(.malformedURL, "\(error)")
        } catch {
            throw RPCError(ofCall: error)
        }
    }
}

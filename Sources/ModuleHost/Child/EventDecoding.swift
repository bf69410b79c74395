/// Reading the events that a host sends to a module's process.
extension LifecycleEvent {
    /// Reads the parameters of `event`.
    ///
    /// - Throws: The error in them.
    init(sentDown parameters: JSONValue, app: String) throws(RPCError) {
        guard let kind = parameters["event"]?.string.flatMap(EventKind.init(rawValue:)) else {
            throw .invalidParameters("'event' is missing or unknown")
        }
        let origin = try Origin(sentDown: parameters)
        let payload = parameters["payload"]
        switch kind {
        case .launch:
            self = .launch(Launch(origin: origin, app: app))
        case .configurationChanged:
            self = .reload(ConfigurationReload(sentDown: payload), origin: origin)
        default:
            do throws(EventError) {
                try self.init(kind, payload: payload, origin: origin)
            } catch {
                throw .invalidParameters("\(error)")
            }
        }
        self = traced(by: parameters["traceparent"]?.string.flatMap { TraceContext($0) })
        if let position = parameters["position"]?.string.flatMap({ EventPosition($0) }) {
            entry = InboxEntry(
                position: position, end: position, id: parameters["id"]?.string,
                source: parameters["source"]?.string,
                attempt: parameters["attempt"]?.int ?? 1,
                isRepeated: parameters["repeated"]?.bool ?? false)
        }
    }
}

extension ConfigurationReload {
    fileprivate init(sentDown payload: JSONValue?) {
        self.init(
            appConfig: payload?["appConfig"], isAppConfigChanged: false,
            own: payload?["config"], isChanged: payload?["changed"]?.bool ?? false)
    }
}

extension Origin {
    /// Reads the origin of an event.
    ///
    /// - Throws: An error where it is missing: with any other origin, the module would assume more
    ///   permissions, or fewer.
    init(sentDown parameters: JSONValue) throws(RPCError) {
        guard let origin = parameters["from"].flatMap(Origin.init) else {
            throw .invalidParameters("'from' is missing, or is not an origin")
        }
        self = origin
    }
}

/// What a host sends down to a module's process, read back.
extension LifecycleEvent {
    /// Reads the parameters of `event`.
    ///
    /// - Parameters:
    ///   - parameters: What was sent.
    ///   - app: The app's name.
    /// - Throws: What is wrong with them.
    init(sentDown parameters: JSONValue, app: String) throws(RPCError) {
        guard let kind = parameters["event"]?.string.flatMap(EventKind.init(rawValue:)) else {
            throw .invalidParameters("'event' is missing, or is none")
        }
        let origin = parameters["origin"]?.string.flatMap(Origin.init(words:)) ?? .host
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
        if let position = parameters["position"]?.string.flatMap({ EventPosition($0) }) {
            entry = InboxEntry(
                position: position, end: position, id: parameters["id"]?.string,
                attempt: parameters["attempt"]?.int ?? 1)
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
    /// Reads an origin as it is described (``description``); nil for what describes none.
    init?(words: String) {
        var parts = words.split(separator: " ")[...]
        switch parts.popFirst() {
        case "host": self = .host
        case "inbox": self = .inbox
        case "push": self = .push
        case "control":
            guard let process: Int32 = Self.number(after: "pid", in: parts),
                let user: UInt32 = Self.number(after: "(uid", in: parts)
            else { return nil }
            self = .control(uid: user, pid: process)
        case "signal":
            guard let name = parts.popFirst() else { return nil }
            self = .signal(
                name: name.last == "," ? String(name.dropLast()) : String(name),
                uid: Self.number(after: "(uid", in: parts),
                pid: Self.number(after: "pid", in: parts),
                value: Self.number(after: "value", in: parts))
        default:
            guard let module = try? ModuleID(words) else { return nil }
            self = .local(module)
        }
        // Whatever else stands there has not been read.
        guard description == words else { return nil }
    }

    /// The number behind a word, such as the 12 of `pid 12` or `(uid 12),`.
    private static func number<Number: FixedWidthInteger>(
        after word: String, in parts: ArraySlice<Substring>
    ) -> Number? {
        guard let index = parts.firstIndex(where: { $0 == word }), index + 1 < parts.endIndex else {
            return nil
        }
        return Number(parts[index + 1].prefix { $0.isNumber || $0 == "-" })
    }
}

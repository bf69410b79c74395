/// An origin as a value, such as `{"kind":"control","uid":1000,"pid":4711}`: the form of the journal, and of
/// messages between host and module processes.
extension JSONWriter {
    /// Writes a member that is an origin.
    ///
    /// - Parameters:
    ///   - key: The member's name.
    ///   - origin: The origin.
    public mutating func member(_ key: String, _ origin: Origin) {
        member(key) { $0.value(origin) }
    }

    /// Writes an origin.
    mutating func value(_ origin: Origin) {
        object { object in
            switch origin {
            case .host: object.member("kind", "host")
            case .local(let module):
                object.member("kind", "local")
                object.member("module", module.text)
            case .signal(let name, let uid, let pid, let value):
                object.member("kind", "signal")
                object.member("name", name)
                if let uid { object.member("uid", Int(uid)) }
                if let pid { object.member("pid", Int(pid)) }
                if let value { object.member("value", Int(value)) }
            case .control(let uid, let pid):
                object.member("kind", "control")
                object.member("uid", Int(uid))
                object.member("pid", Int(pid))
            case .inbox: object.member("kind", "inbox")
            case .push: object.member("kind", "push")
            }
        }
    }
}

extension Origin {
    /// Reads an origin; nil where the value is not one.
    ///
    /// Unknown members are ignored: a later version may have more.
    init?(_ value: JSONValue) {
        switch value["kind"]?.string {
        case "host": self = .host
        case "local":
            guard let text = value["module"]?.string, let module = try? ModuleID(text) else {
                return nil
            }
            self = .local(module)
        case "signal":
            guard let name = value["name"]?.string,
                let uid: UInt32? = Self.number("uid", of: value),
                let pid: Int32? = Self.number("pid", of: value),
                let number: Int32? = Self.number("value", of: value)
            else { return nil }
            self = .signal(name: name, uid: uid, pid: pid, value: number)
        case "control":
            guard let uid: UInt32 = Self.number("uid", of: value) ?? nil,
                let pid: Int32 = Self.number("pid", of: value) ?? nil
            else { return nil }
            self = .control(uid: uid, pid: pid)
        case "inbox": self = .inbox
        case "push": self = .push
        default: return nil
        }
    }

    /// Reads a member that is a number: an inner nil where it is missing, nil where it is anything else.
    private static func number<Number: FixedWidthInteger>(
        _ key: String, of value: JSONValue
    ) -> Number?? {
        guard let member = value[key] else { return .some(nil) }
        return member.integer(Number.self).map(Optional.some)
    }
}

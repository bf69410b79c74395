/// Who caused an event or a call.
public enum Origin: Hashable, Sendable {
    /// The host itself, as part of launching, stopping or reloading.
    case host
    /// A module of this app.
    case local(ModuleID)
    /// A UNIX signal. `uid` and `pid` are nil where no process sent it, such as for Control-C in a
    /// terminal; `value` is what `sigqueue` carried, nil for a plain `kill`.
    case signal(name: String, uid: UInt32?, pid: Int32?, value: Int32?)
}

extension Origin: CustomStringConvertible {
    /// The origin as log lines show it, such as `signal USR1 from pid 4711 (uid 1000)`.
    public var description: String {
        switch self {
        case .host: "host"
        case .local(let module): module.description
        case .signal(let name, let uid, let pid, let value):
            "signal \(name)" + (pid.map { " from pid \($0)" } ?? "")
                + (uid.map { " (uid \($0))" } ?? "") + (value.map { ", value \($0)" } ?? "")
        }
    }
}

/// The origin of an event or a call.
@nonexhaustive public enum Origin: Hashable, Sendable {
    /// The host itself, as part of launching, stopping or reloading.
    case host
    /// A module of this app.
    case local(ModuleID)
    /// A UNIX signal. `uid` and `pid` are nil where no process sent it, such as for Control-C in a terminal;
    /// `value` is the value sent with `sigqueue`, nil for a plain `kill`.
    case signal(name: String, uid: UInt32?, pid: Int32?, value: Int32?)
    /// A process connected to the control socket, as the kernel identified it at accept.
    case control(uid: UInt32, pid: Int32)
    /// The inbox: any program that may write to the inbox.
    case inbox
    /// A push that was opened: any sender of a push.
    case push

    /// Whether the cause lies outside of the app.
    ///
    /// The host and its modules, isolated ones included, reach every route; a remote caller reaches public
    /// routes, and others only with a token.
    public var isRemote: Bool {
        switch self {
        case .host, .local: false
        case .signal, .control, .inbox, .push: true
        }
    }
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
        case .control(let uid, let pid): "control from pid \(pid) (uid \(uid))"
        case .inbox: "inbox"
        case .push: "push"
        }
    }
}

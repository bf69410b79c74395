import ModuleHost

/// The folder of an app: that of its slatefile, in which its modules are made.
struct AppFolder: Hashable, Sendable {
    /// The path of the slatefile.
    let slatefile: String
    /// The path of its folder, `.` for the one in which the command runs.
    let path: String

    init(slatefile: String) {
        self.slatefile = slatefile
        path = parentFolder(of: slatefile) ?? "."
    }

    /// The path of something in the folder.
    func path(of name: String) -> String {
        guard slatefile.contains("/") else { return name }
        return path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    /// The slatefile, for who is in the folder.
    var slatefileName: String { slatefile.split(separator: "/").last.map(String.init) ?? slatefile }

    /// The option that names the slatefile to a command in the folder; empty for the usual name.
    var option: String {
        slatefileName == Command.defaultSlatefile
            ? "" : " --slatefile \(shellQuoted(slatefileName))"
    }
}

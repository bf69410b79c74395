/// The folder of an app: that of its slatefile, in which its modules are created.
struct AppFolder: Hashable, Sendable {
    /// The path of the slatefile.
    let slatefile: String
    /// The path of its folder, `.` for the working directory.
    let path: String

    init(slatefile: String) {
        self.slatefile = slatefile
        path = parentFolder(of: slatefile) ?? "."
    }

    /// Returns the path of a file in the folder.
    func path(of name: String) -> String {
        guard slatefile.contains("/") else { return name }
        return path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    /// The name of the slatefile, relative to the folder.
    var slatefileName: String { slatefile.split(separator: "/").last.map(String.init) ?? slatefile }

    /// The option that passes the slatefile to a command in the folder; empty for the default name.
    var option: String {
        slatefileName == Command.defaultSlatefile
            ? "" : " --slatefile \(shellQuoted(slatefileName))"
    }
}

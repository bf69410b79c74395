/// The name and the version of a host's program, as its help, its messages and its log state them.
package struct ProgramIdentity: Hashable, Sendable {
    package let name: String
    package let version: String

    package init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    /// The identity of a host that does not state another.
    package static let hostd = ProgramIdentity(name: "hostd", version: HostVersion.current)
}

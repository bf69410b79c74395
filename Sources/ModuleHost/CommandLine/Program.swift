/// The program of a command line: its name, its version and its commands.
struct Program: Sendable {
    let identity: ProgramIdentity
    private let ownCommands: [Command]
    /// The packages that it was composed of; nil for a program that `compose` has not made.
    let composition: HostComposition?
    /// The observer of what its hosts deliver; nil for none.
    let observer: (any DeliveryObserver)?

    /// - Throws: ``HostCommandError``, for the first of its own commands whose name cannot be used.
    init(
        _ identity: ProgramIdentity, own: [HostCommand] = [],
        composition: HostComposition? = nil, observer: (any DeliveryObserver)? = nil
    ) throws(HostCommandError) {
        self.identity = identity
        (self.composition, self.observer) = (composition, observer)
        var names = own.isEmpty ? [] : Command.builtIn.map(\.name)
        for command in own {
            if let error = HostCommandError(command.name, reserved: names) { throw error }
            names.append(command.name)
        }
        ownCommands = own.map { Command($0) }
    }

    /// The built-in commands and its own, in the order of the help, which stays last.
    ///
    /// Made where they are needed: a host that starts, and has no commands of its own, needs one of them.
    var commands: [Command] {
        var commands = Command.builtIn
        commands.insert(contentsOf: ownCommands, at: commands.count - 1)
        return commands
    }

    /// The name that messages and help texts begin with.
    var name: String { identity.name }

    /// The command that runs this program in the current folder: `swift run NAME` if it was built there.
    var command: String {
        foldersAboveProgram().contains(CurrentProcess.absolute(".build"))
            ? "swift run \(name)" : name
    }

    /// The versions for programs: a line of JSON.
    var versionJSON: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("name", name)
            $0.member("version", identity.version)
            $0.member("moduleHost", HostVersion.current)
            if let composition { composition.write(to: &$0) }
        }
        json.newline()
        return json.bytes
    }

    /// Returns the command with a name.
    func command(named name: String) throws(UsageError) -> Command {
        if name == Command.run.name { return .run }
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw .unknownCommand(name, in: self)
    }
}

/// The program of a command line: its name, its version and its commands.
struct Program: Sendable {
    let identity: ProgramIdentity
    /// The built-in commands and its own, in the order of the help.
    let commands: [Command]

    /// - Throws: ``HostCommandError``, for the first of its own commands whose name cannot be used.
    init(_ identity: ProgramIdentity, own: [HostCommand] = []) throws(HostCommandError) {
        self.identity = identity
        var commands = Command.builtIn
        // Before the help, which stays last.
        let place = commands.count - 1
        for (index, command) in own.enumerated() {
            if let error = HostCommandError(command.name, reserved: commands.map(\.name)) {
                throw error
            }
            commands.insert(Command(command), at: place + index)
        }
        self.commands = commands
    }

    /// The name that messages and help texts begin with.
    var name: String { identity.name }

    /// Returns the command with a name.
    func command(named name: String) throws(UsageError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw .unknownCommand(name, in: self)
    }
}

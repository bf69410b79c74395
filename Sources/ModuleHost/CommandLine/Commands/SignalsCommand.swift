extension Command {
    static let signals = Command(
        name: "signals", summary: "list the effect of each signal",
        discussion: """
            Where a host runs on the state directory, the commands name its process; else they are
            written so that they find the host that will.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: [.success, .noInput, .invalidSlatefile],
        run: { arguments in
            let path = arguments["slatefile"] ?? defaultSlatefile
            let environment = CurrentProcess.environment()
            do throws(SlatefileFailure) {
                let slatefile = try Slatefile.load(path, environment: environment)
                let directory = StateDirectory(
                    option: arguments["state-dir"], environment: environment,
                    slatefile: path)
                let table = SignalTable(
                    slatefile.signals, stateDirectory: directory,
                    holder: PidFile.holder(of: directory))
                return arguments.has("json")
                    ? Console.write(json: table.json) : Console.write(table.text)
            } catch {
                Console.printError(error, in: arguments)
                return error.exitCode
            }
        })
}

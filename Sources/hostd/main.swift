import ModuleHost

// The first statement: from here on a signal waits for the host that is to take it.
let inheritedMask = SignalListener.hold()
RawOutput.occupyClosedStandardDescriptors()
CurrentProcess.exit(
    runCommandLine(Array(CommandLine.arguments.dropFirst()), mask: inheritedMask).rawValue)

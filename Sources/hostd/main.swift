import ModuleHost

// The first statement: from here on a signal waits for the host.
let inheritedMask = SignalListener.hold()
RawOutput.occupyClosedStandardDescriptors()
CurrentProcess.exit(
    runCommandLine(Array(CommandLine.arguments.dropFirst()), mask: inheritedMask).rawValue)

import ModuleHost

RawOutput.occupyClosedStandardDescriptors()
CurrentProcess.exit(runCommandLine(Array(CommandLine.arguments.dropFirst())).rawValue)

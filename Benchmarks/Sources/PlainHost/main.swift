import ModuleHost
import PlainModules

// A host as hostd is, of modules that do nothing: the commands are those of hostd, and it is without Foundation, too.

HostCommandLine.run(name: "PlainHost", version: HostVersion.current)

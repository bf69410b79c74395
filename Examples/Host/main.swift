import ModuleHost

// A host of one's own: the modules of this target and the built-in ones, found by the names that the slatefile gives, and
// every command of `hostd`. It is the first statement: from here on signals wait for the host.
HostCommandLine.run(name: "ExampleHost", version: "1.0")

import ModuleHost

// The host of the built-in modules; signals wait for it from here on.
HostCommandLine.run(name: "hostd", version: HostVersion.current)

import ModuleHost

// A small shop as an app of its own: three modules, tested with ModuleHostTesting in ../Tests.
HostCommandLine.run(name: "Shop", version: "1.0")

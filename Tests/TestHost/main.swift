import Glibc
import ModuleHost

// A host of one's own for the tests: modules that crash on demand, and hosts that are run in ways in which
// they may not be. Whatever comes of it, nothing that a test leaves behind stays for longer than an hour.
alarm(3600)

HostCommandLine.run(name: "TestHost", version: "1.2.3", commands: [prices] + Way.commands)

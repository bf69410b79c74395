import Glibc
import ModuleHost

// A host of one's own: the modules of this target and the built-in ones, found by the names that the
// slatefile gives. Signals, the inbox, the control socket, the log and the exit code are as those of
// `hostd`, whose commands work with it too.

guard CommandLine.argc == 1 else {
    let usage = "usage: ExampleHost\nIt runs the slatefile.json of the folder it is started in.\n"
    write(2, usage, usage.utf8.count)
    exit(ExitCode.usage.rawValue)
}
exit(HostDaemon.run(HostDaemonOptions()).rawValue)

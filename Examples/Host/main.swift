import Glibc
import ModuleHost

// A host of one's own: the modules of this target and the built-in ones, found by the names that the
// slatefile gives. Signals, the inbox, the control socket, the log and the exit code are as those of
// `hostd`, whose commands work with it too.

exit(HostDaemon.run(HostDaemonOptions()).rawValue)

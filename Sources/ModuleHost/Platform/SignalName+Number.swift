import Glibc

extension SignalName {
    /// The number that this platform gives the signal.
    package var number: Int32 {
        if let realTimeOffset { return __libc_current_sigrtmin() + Int32(realTimeOffset) }
        switch name {
        case "TERM": return SIGTERM
        case "INT": return SIGINT
        case "HUP": return SIGHUP
        case "USR1": return SIGUSR1
        case "USR2": return SIGUSR2
        case "QUIT": return SIGQUIT
        case "ALRM": return SIGALRM
        case "VTALRM": return SIGVTALRM
        case "PROF": return SIGPROF
        case "WINCH": return SIGWINCH
        case "URG": return SIGURG
        case "IO": return SIGIO
        case "PWR": return SIGPWR
        // Such a name cannot be created; 0 is not the number of a signal.
        default: return 0
        }
    }
}

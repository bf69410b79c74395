import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A set of signal numbers.
package struct SignalSet: Sendable {
    fileprivate(set) var raw = sigset_t()

    /// Creates an empty set.
    package init() { sigemptyset(&raw) }

    package init(_ signals: some Sequence<Int32>) {
        self.init()
        for signal in signals { insert(signal) }
    }

    /// A set of all signals.
    package static var all: SignalSet {
        var set = SignalSet()
        sigfillset(&set.raw)
        return set
    }

    package mutating func insert(_ signal: Int32) { sigaddset(&raw, signal) }
    package mutating func remove(_ signal: Int32) { sigdelset(&raw, signal) }
    package mutating func remove(_ signals: [Int32]) {
        for signal in signals { remove(signal) }
    }

    package func contains(_ signal: Int32) -> Bool {
        withUnsafePointer(to: raw) { sigismember($0, signal) == 1 }
    }
}

/// A signal that was taken, with the kernel's information about it.
package struct ReceivedSignal: Hashable, Sendable {
    /// The sender of a signal.
    package struct Sender: Hashable, Sendable {
        package let processID: Int32
        package let userID: UInt32

        package init(processID: Int32, userID: UInt32) {
            self.processID = processID
            self.userID = userID
        }
    }

    package let number: Int32
    /// The sender; nil if no process sent it (a terminal's Ctrl-C, a timer), if the sender is in another PID
    /// namespace (`docker stop`), or if the queue was full and the kernel has kept the signal alone.
    ///
    /// With `sigqueue` the C library of the sender fills this in, and a program that makes the system call
    /// itself may lie: it is information, not proof. The kernel has checked that the sender was allowed to
    /// signal at all.
    package let sender: Sender?
    /// The value that was sent with it: only `sigqueue` sends one.
    package let value: Int32?
    /// Whether the kernel itself sent it, for example for a terminal: to each process of the group.
    let isFromKernel: Bool
}

extension ReceivedSignal {
    /// Creates a signal from the kernel's record; `si_code` decides which members it has filled in.
    fileprivate init(_ info: siginfo_t) {
        let fields = info._sifields._rt
        let sent = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL
        number = info.si_signo
        // For a signal without room in the queue, and for one from another PID namespace, the kernel reports process 0.
        // The user 0 of such a record is not root.
        sender =
            sent && fields.si_pid != 0
            ? Sender(processID: fields.si_pid, userID: fields.si_uid) : nil
        value = info.si_code == SI_QUEUE ? fields.si_sigval.sival_int : nil
        isFromKernel = info.si_code == SI_KERNEL
    }
}

/// The system calls that deal with signals.
package enum Signals {
    /// The signals that queue instead of coalescing; the lowest two are glibc's own and are left out.
    package static var realTime: ClosedRange<Int32> {
        __libc_current_sigrtmin()...__libc_current_sigrtmax()
    }

    /// The signals that an error of the thread itself raises.
    static let synchronous: [Int32] = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS]
    /// The signals that stop or end a program in a terminal.
    static let fromKeyboard: [Int32] = [SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]
    /// The signals for which Swift's runtime has handlers that print a backtrace, in a build that is linked
    /// with it dynamically; and `SIGSYS`.
    private static let crashes = synchronous + [SIGQUIT]
    /// The signals that request the end of a process.
    package static let requestsEnd: [Int32] = [SIGTERM, SIGINT]
    /// The signal by which the kernel reports that a child has ended.
    static let childEnded = SIGCHLD
    /// The signals that, when ignored, make the call that caused them fail: `EPIPE`, `EFBIG`.
    static let turnedIntoErrors: [Int32] = [SIGPIPE, SIGXFSZ]
    /// The signal by which a thread of this process wakes the one that waits for signals.
    ///
    /// Not a real-time signal: sending those fails where the queue is full. The kernel never raises this one,
    /// and a slatefile cannot name it.
    static let wakeUp = SIGSTKFLT

    /// Blocks the signals in the calling thread and the threads that it starts.
    package static func block(_ signals: SignalSet) { _ = change(SIG_BLOCK, signals) }

    /// Blocks these signals and no others, whatever the parent process had blocked.
    ///
    /// - Returns: The signals that were blocked before.
    @discardableResult
    package static func blockExactly(_ signals: SignalSet) -> SignalSet {
        change(SIG_SETMASK, signals)
    }

    /// The signals that are blocked in the calling thread.
    package static var blocked: SignalSet { change(SIG_BLOCK, SignalSet()) }

    private static func change(_ how: Int32, _ signals: SignalSet) -> SignalSet {
        var before = SignalSet()
        withUnsafePointer(to: signals.raw) { _ = pthread_sigmask(how, $0, &before.raw) }
        return before
    }

    /// Waits until one of `signals`, which must be blocked, is pending, and takes it.
    ///
    /// A `SIGUSR1` of this process itself is discarded: Swift's runtime suspends threads with it, to make a
    /// backtrace.
    package static func wait(for signals: SignalSet) -> ReceivedSignal {
        var info = siginfo_t()
        repeat {
            while withUnsafePointer(to: signals.raw, { sigwaitinfo($0, &info) }) < 0 {}
        } while isSuspension(info)
        return ReceivedSignal(info)
    }

    private static func isSuspension(_ info: siginfo_t) -> Bool {
        // The C library does not report that it was sent to one thread (SI_TKILL): it turns that into
        // SI_USER. So other signals must count: a program may end itself by `kill(getpid(), SIGTERM)`.
        info.si_signo == SIGUSR1 && (info.si_code == SI_USER || info.si_code == SI_TKILL)
            && info._sifields._rt.si_pid == getpid()
    }

    /// Waits until one of `signals`, which must be blocked, is pending, and takes it; as ``wait(for:)`` does.
    ///
    /// - Parameters:
    ///   - signals: The signals to wait for.
    ///   - deadline: The end of the wait.
    /// - Returns: The signal; nil on a timeout.
    package static func wait(
        for signals: SignalSet, until deadline: ContinuousClock.Instant
    ) -> ReceivedSignal? {
        var info = siginfo_t()
        while true {
            let (seconds, attoseconds) =
                max(.zero, ContinuousClock.now.duration(to: deadline)).components
            var limit = timespec(
                tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            if withUnsafePointer(to: signals.raw, { sigtimedwait($0, &info, &limit) }) > 0 {
                if !isSuspension(info) { return ReceivedSignal(info) }
            } else if errno != EINTR {
                return nil
            }
        }
    }

    /// Sends a signal to a process; to its whole group where `process` is negative.
    package static func send(_ signal: Int32, to process: Int32) throws(SystemError) {
        guard kill(process, signal) == 0 else { throw .last }
    }

    /// Sends a signal that carries a value.
    ///
    /// - Throws: ``SystemError/wouldBlock`` where the receiving user's queue is full
    ///   (`RLIMIT_SIGPENDING`).
    package static func queue(
        _ signal: Int32, value: Int32, to process: Int32
    ) throws(SystemError) {
        guard sigqueue(process, signal, sigval(sival_int: value)) == 0 else { throw .last }
    }

    /// Has a signal that the calling thread blocks take its effect, as if no thread took it in another way.
    package static func letThrough(_ signal: Int32) {
        pthread_kill(pthread_self(), signal)
        _ = change(SIG_UNBLOCK, SignalSet([signal]))
        _ = change(SIG_BLOCK, SignalSet([signal]))
    }

    /// Sends a signal to one thread of this process.
    static func send(_ signal: Int32, toThread thread: UInt) { pthread_kill(thread, signal) }

    /// Turns a write to a pipe without a reader, or beyond the file size limit, from the end of the process
    /// into an error: `EPIPE`, `EFBIG`.
    package static func turnIntoErrors() { for signal in turnedIntoErrors { ignore(signal) } }

    /// Makes the kernel discard the signal unless it is blocked.
    static func ignore(_ number: Int32) { signal(number, SIG_IGN) }

    /// Makes a crash end the process at once.
    ///
    /// The handlers of Swift's runtime would first make a backtrace. For that they suspend the other threads
    /// with `SIGUSR1`, and wait half a minute for those that have it blocked, as all threads of a host have;
    /// meanwhile these run on. `SWIFT_BACKTRACE` in the environment requests a backtrace all the same.
    /// `SIGABRT` ends the process even then: a service manager ends a host that hangs with it, and the
    /// runtime's handler returns from it.
    static func endAtOnceOnCrash() {
        let request = getenv("SWIFT_BACKTRACE")
        let isRequested = request.map { $0.pointee != 0 } ?? false
        for number in isRequested ? [SIGABRT] : crashes where handler(of: number) != ignoredHandler
        {
            signal(number, SIG_DFL)
        }
    }

    /// Restores the default actions of signals that the parent process had ignored (`nohup`, a script's `&`).
    ///
    /// Handlers stay as they are: ``endAtOnceOnCrash()`` treats those of a crash.
    static func restoreIgnored() {
        for number in 1...Signals.realTime.upperBound {
            if handler(of: number) == ignoredHandler { signal(number, SIG_DFL) }
        }
    }

    /// Returns whether this process ignores a signal, as its parent process may have requested.
    package static func isIgnored(_ number: Int32) -> Bool { handler(of: number) == ignoredHandler }

    /// Returns the handler of a signal as a number: a function pointer cannot be compared.
    private static func handler(of number: Int32) -> UInt? {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return nil }
        return unsafeBitCast(action.__sigaction_handler, to: UInt.self)
    }

    /// `SIG_IGN` as such a number.
    private static var ignoredHandler: UInt { unsafeBitCast(SIG_IGN, to: UInt.self) }
}

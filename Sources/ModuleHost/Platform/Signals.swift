import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Signal numbers as a set.
package struct SignalSet: Sendable {
    fileprivate(set) var raw = sigset_t()

    /// No signals.
    package init() { sigemptyset(&raw) }

    package init(_ signals: some Sequence<Int32>) {
        self.init()
        for signal in signals { insert(signal) }
    }

    /// Every signal there is.
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

/// A signal that was taken, with what the kernel tells of it.
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
    /// The sender; nil where no process sent it (a terminal's Ctrl-C, a timer), or where the queue was
    /// full and the kernel has kept the signal alone.
    ///
    /// With `sigqueue` the sender fills this in itself, and one that makes the system call by hand
    /// may lie: it says who, it proves nothing. That it was allowed to signal at all, the kernel
    /// has checked.
    package let sender: Sender?
    /// The value that came with it: only `sigqueue` sends one.
    package let value: Int32?

    package init(number: Int32, sender: Sender?, value: Int32?) {
        self.number = number
        self.sender = sender
        self.value = value
    }
}

extension ReceivedSignal {
    /// Creates a signal from the kernel's record; `si_code` decides which members it has filled in.
    fileprivate init(_ info: siginfo_t) {
        let fields = info._sifields._rt
        let sent = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL
        self.init(
            number: info.si_signo,
            // Of a signal without room in the queue the kernel says: process 0, user 0. That is not root.
            sender: sent && fields.si_pid != 0
                ? .init(processID: fields.si_pid, userID: fields.si_uid) : nil,
            value: info.si_code == SI_QUEUE ? fields.si_sigval.sival_int : nil)
    }
}

/// The calls that deal with signals.
package enum Signals {
    /// The signals that queue instead of coalescing; the lowest two are glibc's own and not here.
    package static var realTime: ClosedRange<Int32> {
        __libc_current_sigrtmin()...__libc_current_sigrtmax()
    }

    /// Those that a fault of the thread itself raises.
    static let synchronous: [Int32] = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS]
    /// Those that stop or end what runs in a terminal.
    static let fromKeyboard: [Int32] = [SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]
    /// Those for which Swift's runtime has handlers that print a backtrace, in a build that is linked with it
    /// dynamically; and `SIGSYS`.
    private static let crashes = synchronous + [SIGQUIT]
    /// Those by which a process is asked to end.
    static let requestsEnd: [Int32] = [SIGTERM, SIGINT]
    /// The one by which the kernel tells that a child has ended.
    static let childEnded = SIGCHLD
    /// Those that, when ignored, leave the call that caused them with an error: `EPIPE`, `EFBIG`.
    static let turnedIntoErrors: [Int32] = [SIGPIPE, SIGXFSZ]
    /// The one by which a thread of this process wakes the one that waits for signals.
    ///
    /// Not a real-time one: sending those fails where the queue is full. This one the kernel never
    /// raises, and a slatefile cannot name it.
    static let wakeUp = SIGSTKFLT

    /// Holds the signals back from the calling thread and the threads that it starts.
    package static func block(_ signals: SignalSet) { _ = change(SIG_BLOCK, signals) }

    /// Holds back these signals and no others, whatever the parent process had blocked.
    ///
    /// - Returns: The signals that were held back before.
    @discardableResult
    package static func blockExactly(_ signals: SignalSet) -> SignalSet {
        change(SIG_SETMASK, signals)
    }

    /// The signals that are held back from the calling thread.
    package static var blocked: SignalSet { change(SIG_BLOCK, SignalSet()) }

    private static func change(_ how: Int32, _ signals: SignalSet) -> SignalSet {
        var before = SignalSet()
        withUnsafePointer(to: signals.raw) { _ = pthread_sigmask(how, $0, &before.raw) }
        return before
    }

    /// Waits until one of `signals`, which must be blocked, is there, and takes it.
    ///
    /// A `SIGUSR1` of this process itself is thrown away: Swift's runtime suspends threads by it, to make a
    /// backtrace.
    package static func wait(for signals: SignalSet) -> ReceivedSignal {
        var info = siginfo_t()
        repeat {
            while withUnsafePointer(to: signals.raw, { sigwaitinfo($0, &info) }) < 0 {}
        } while isSuspension(info)
        return ReceivedSignal(info)
    }

    private static func isSuspension(_ info: siginfo_t) -> Bool {
        // That it was sent to one thread (SI_TKILL) the C library does not tell: it makes SI_USER of that. So
        // other signals must count: a program may end itself by `kill(getpid(), SIGTERM)`.
        info.si_signo == SIGUSR1 && (info.si_code == SI_USER || info.si_code == SI_TKILL)
            && info._sifields._rt.si_pid == getpid()
    }

    /// Waits until one of `signals`, which must be blocked, is there, and takes it; as ``wait(for:)`` does.
    ///
    /// - Parameters:
    ///   - signals: Which.
    ///   - deadline: Until when.
    /// - Returns: The signal; nil where time was up.
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

    /// Sends a signal to one thread of this process.
    static func send(_ signal: Int32, toThread thread: UInt) { pthread_kill(thread, signal) }

    /// Turns a write to a pipe without a reader, or beyond what a file may have, from a death into an
    /// error: `EPIPE`, `EFBIG`.
    package static func turnIntoErrors() { for signal in turnedIntoErrors { ignore(signal) } }

    /// Has the kernel throw the signal away unless it is blocked.
    static func ignore(_ number: Int32) { signal(number, SIG_IGN) }

    /// Has a crash end the process at once.
    ///
    /// The handlers of Swift's runtime would first make a backtrace. For that they suspend the other threads by
    /// `SIGUSR1`, and wait half a minute for those that have it blocked, as all threads of a host have; meanwhile
    /// these go on as if nothing had happened. `SWIFT_BACKTRACE` in the environment asks for it all the same.
    /// `SIGABRT` ends the process even then: a service manager ends a host that hangs by it, and the runtime's
    /// handler returns from it.
    static func endAtOnceOnCrash() {
        let request = getenv("SWIFT_BACKTRACE")
        let isRequested = request.map { $0.pointee != 0 } ?? false
        for number in isRequested ? [SIGABRT] : crashes where handler(of: number) != ignoredHandler
        {
            signal(number, SIG_DFL)
        }
    }

    /// Gives the signals that the parent process had ignored (`nohup`, a script's `&`) their
    /// default actions back.
    ///
    /// Handlers stay as they are: those of a crash are ``endAtOnceOnCrash()``'s business.
    static func restoreIgnored() {
        for number in 1...Signals.realTime.upperBound {
            if handler(of: number) == ignoredHandler { signal(number, SIG_DFL) }
        }
    }

    /// Returns the handler of a signal as a number: a function pointer cannot be compared.
    private static func handler(of number: Int32) -> UInt? {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return nil }
        return unsafeBitCast(action.__sigaction_handler, to: UInt.self)
    }

    /// `SIG_IGN` as such a number.
    private static var ignoredHandler: UInt { unsafeBitCast(SIG_IGN, to: UInt.self) }
}

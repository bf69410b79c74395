import AppService
import Glibc

/// The terminal of a command that has the whole screen for itself, and its keys.
///
/// For the main thread of a process, before it starts other threads: these have the signals blocked, too. Only
/// ``ring()`` may be called by any thread.
package final class TerminalScreen: Sendable {
    /// A reason for which a wait ends.
    package enum News: Hashable, Sendable {
        case key(UInt8)
        case signal(Int32)
        case rung
        /// The screen has another size, or is to be drawn again; or the time is up.
        case redraw
    }

    /// The signals that were blocked before.
    package let before = Signals.blocked
    /// The settings of the keyboard; nil where stdin is not a terminal.
    private let keyboard: termios?
    private let news = Guarded<[News]>([])
    private let bell: WakeSignal

    /// Clears the screen, and has keys come without Return.
    ///
    /// - Throws: ``SystemError`` where the system has no room for a thread and two descriptors.
    package init() throws(SystemError) {
        var settings = termios()
        keyboard = tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
        bell = try WakeSignal()
        let ends = [SIGTSTP, SIGQUIT, SIGHUP] + Signals.requestsEnd
        let signals = SignalSet([SIGWINCH] + ends.filter { !Signals.isIgnored($0) })
        Signals.block(signals)
        try NativeThread.start(name: "signals") { [self] in
            while true {
                let signal = Signals.wait(for: signals).number
                news.withLock { $0.append(signal == SIGWINCH ? .redraw : .signal(signal)) }
                bell.give()
            }
        }
        enter()
    }

    private func enter() {
        if var settings = keyboard {
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
        // The alternate screen, without a cursor; longer lines are cut.
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    /// Gives the terminal back as it was.
    package func leave() {
        write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        if var settings = keyboard { tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
    }

    private func write(_ text: String) {
        try? RawOutput.writeAll(text.utf8, to: RawOutput.standardOutput)
    }

    /// The size of the terminal at stdout in characters; nil where there is none, or it does not know.
    package static var size: (width: Int, height: Int)? { size(of: RawOutput.standardOutput) }

    /// Returns the size of the terminal of a descriptor; nil for anything else.
    static func size(of descriptor: Int32) -> (width: Int, height: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Ends the wait of the command, now or the next one; from any thread.
    package func ring() {
        news.withLock { $0.append(.rung) }
        bell.give()
    }

    /// Waits for news until a time.
    package func wait(until end: ContinuousClock.Instant) -> News {
        while true {
            switch news.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            case .signal(SIGTSTP):
                leave()
                // Stops here until the shell has it go on, and not where no shell would.
                Signals.letThrough(SIGTSTP)
                enter()
                return .redraw
            case let next?: return next
            case nil: break
            }
            var set = PollSet()
            set.insert(bell.descriptor, .reading)
            if keyboard != nil { set.insert(STDIN_FILENO, .reading) }
            let left = ContinuousClock.now.duration(to: end).wholeNanoseconds / 1_000_000
            guard set.wait(milliseconds: Int32(clamping: max(0, left + 1))) else { return .redraw }
            if set.isReady(0) { bell.take() }
            if keyboard != nil, set.isReady(1) {
                var bytes = [UInt8](repeating: 0, count: 64)
                // A terminal that is gone is as the end of the command.
                guard read(STDIN_FILENO, &bytes, bytes.count) > 0 else { return .signal(SIGHUP) }
                // An arrow, a function key or the wheel sends several bytes.
                return bytes[0] == 0x1B ? .redraw : .key(bytes[0])
            }
        }
    }
}

import Glibc
import Testing

@testable import ModuleHostCore

/// The listener on a thread of the test's own, with signals sent to that thread alone: no other
/// thread of the test process has them blocked.
///
/// The tests of hostd signal a whole process.
@Suite("Signal listener", .timeLimit(.minutes(10)))
struct SignalListenerTests {
    /// Runs `body` on a thread that blocks all signals, and awaits what it returns.
    private func onSignalThread<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try NativeThread.start(name: "signals") {
                    SignalListener.blockAll()
                    continuation.resume(returning: body())
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    @Test("takes what came before the loop, each with its sender, until the handler ends it")
    func takes() async throws {
        let first = Signals.realTime.lowerBound + 1
        let signals = try await onSignalThread {
            for _ in 1...3 { Signals.send(first, toThread: NativeThread.current) }
            Signals.send(SIGUSR2, toThread: NativeThread.current)
            var signals: [ReceivedSignal] = []
            SignalListener().takeSignals { signal in
                signals.append(signal)
                return signals.count == 4 ? .end : .goOn
            }
            return signals
        }
        #expect(signals.map(\.number) == [SIGUSR2, first, first, first])
        let sender = ReceivedSignal.Sender(processID: getpid(), userID: getuid())
        #expect(signals.allSatisfy { $0.sender == sender && $0.value == nil })
    }

    @Test("the USR1 by which Swift's runtime suspends threads, for a backtrace, is thrown away")
    func suspension() async throws {
        let numbers = try await onSignalThread {
            let signals = SignalSet([SIGUSR1, SIGUSR2])
            for signal in [SIGUSR1, SIGUSR2] {
                Signals.send(signal, toThread: NativeThread.current)
            }
            var numbers = [Signals.wait(for: signals, until: .now)?.number]
            numbers.append(Signals.wait(for: signals, until: .now)?.number)
            for signal in [SIGUSR1, SIGTERM] {
                Signals.send(signal, toThread: NativeThread.current)
            }
            SignalListener().takeSignals { signal in
                numbers.append(signal.number)
                return .end
            }
            return numbers
        }
        #expect(numbers == [SIGUSR2, nil, SIGTERM])
    }

    @Test("is ended by another thread while it waits")
    func ended() async throws {
        let calls = try await onSignalThread {
            let listener = SignalListener()
            Signals.send(SIGUSR2, toThread: NativeThread.current)
            var calls = 0
            listener.takeSignals { _ in
                calls += 1
                // The loop waits again by then, or is about to: both must end it.
                try? NativeThread.start(name: "ends") { listener.end() }
                return .goOn
            }
            return calls
        }
        #expect(calls == 1)
    }

    @Test("ended before it begins, it does not wait")
    func endedBefore() async throws {
        let calls = try await onSignalThread {
            let listener = SignalListener()
            listener.end()
            var calls = 0
            listener.takeSignals { _ in
                calls += 1
                return .goOn
            }
            return calls
        }
        #expect(calls == 0)
    }

    @Test("the signal that wakes it means nothing from others")
    func foreignWakeUp() async throws {
        let numbers = try await onSignalThread {
            // Lower numbers come first: HUP, the wake-up, and one after it.
            Signals.send(Signals.wakeUp, toThread: NativeThread.current)
            Signals.send(SIGHUP, toThread: NativeThread.current)
            Signals.send(Signals.realTime.lowerBound, toThread: NativeThread.current)
            var numbers: [Int32] = []
            SignalListener().takeSignals { signal in
                numbers.append(signal.number)
                return numbers.count == 2 ? .end : .goOn
            }
            return numbers
        }
        #expect(numbers == [SIGHUP, Signals.realTime.lowerBound])
    }

    @Test("blocks all but what a crash raises, and what becomes an error")
    func blocks() async throws {
        let open = try await onSignalThread {
            (1...Signals.realTime.upperBound).filter { !Signals.blocked.contains($0) }
        }
        // KILL and STOP cannot be blocked; 32 and 33 are glibc's own.
        let expected =
            [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS, SIGPIPE, SIGXFSZ]
            + [SIGKILL, SIGSTOP, 32, 33]
        #expect(Set(open) == Set(expected))
    }

    @Test("from the loop on, the keyboard's signals keep their meaning unless taken")
    func keptDefault() async throws {
        let open = try await onSignalThread {
            [SignalListener.keptDefault, [SIGTSTP]].map { kept in
                Signals.block(SignalSet(SignalListener.keptDefault))
                Signals.send(SIGHUP, toThread: NativeThread.current)
                SignalListener().takeSignals(keepingDefault: { kept }) { _ in .end }
                return SignalListener.keptDefault.filter { !Signals.blocked.contains($0) }
            }
        }
        #expect(open == [[SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU], [SIGTSTP]])
    }

    @Test("every signal that a slatefile may name has a number, and one only")
    func numbers() throws {
        let names = SignalName.standard + SignalName.realTimeOffsets.map { "RTMIN+\($0)" }
        let numbers = try names.map { try SignalName($0).number }
        #expect(Set(numbers).count == names.count)
        #expect(!numbers.contains(0) && !numbers.contains(Signals.wakeUp))
        #expect(numbers.allSatisfy { $0 <= Signals.realTime.upperBound })
        #expect(try SignalName("RTMIN+1").number == Signals.realTime.lowerBound + 1)
    }
}

extension SignalListener {
    /// Takes signals until the handler or ``end()`` ends that.
    ///
    /// Except CHLD. The kernel does not ignore it for a thread that has it blocked, as a thread has that starts a
    /// process: if an earlier child of the same thread ends meanwhile, any thread that waits for signals takes it.
    fileprivate func takeSignals(
        keepingDefault kept: () -> [Int32] = { SignalListener.keptDefault },
        _ handler: (ReceivedSignal) -> Next
    ) {
        loop(keepingDefault: kept) { $0.number == SIGCHLD ? .goOn : handler($0) }
    }
}

import AppService

/// The call of a command that a signal ends: first in the host, so that work for the answer ends, too, and then the
/// command.
///
/// For the main thread, before it connects to a host.
struct InterruptibleCall {
    /// The time that the host has to respond to the cancellation.
    private static let patience: Duration = .seconds(2)

    /// The signals that were blocked before.
    private let before = Signals.blocked
    private let signals: SignalSet
    private let taken = Taken()

    private final class Taken: Sendable {
        let signal = Guarded<Int32?>(nil)
    }

    /// Blocks the signals that request the end, unless they are ignored.
    init() {
        signals = SignalSet(Signals.requestsEnd.filter { !Signals.isIgnored($0) })
        Signals.block(signals)
    }

    /// Calls a method and blocks the thread until the response is there.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - method: The method's name.
    ///   - parameters: Writes the parameters.
    /// - Returns: The result.
    /// - Throws: ``HostClientError``; of a call that was cancelled, the host's error.
    func call(
        _ client: HostClient, _ method: String, _ parameters: (inout JSONWriter) -> Void
    ) throws(HostClientError) -> JSONValue {
        let (connection, id) = (client.connection, client.connection.nextID())
        do throws(SystemError) {
            try NativeThread.start(name: "interruption") { [before, signals, taken] in
                let signal = Signals.wait(for: signals).number
                taken.signal.withLock { $0 = signal }
                connection.requestEnd(of: id)
                // A second signal ends the command at once.
                _ = Signals.wait(for: signals, until: .now + Self.patience)
                Interruption.end(by: signal, before)
            }
        } catch {
            // Without the thread a signal ends the command alone.
            Signals.blockExactly(before)
        }
        return try client.call(method, as: id, within: nil, parameters)
    }

    /// Ends this process by the signal that was taken, if there was one and the call failed.
    ///
    /// - Parameter code: The exit code of the command.
    /// - Returns: The exit code.
    func end(with code: ExitCode) -> ExitCode {
        if code != .success, let signal = taken.signal.withLock({ $0 }) {
            Interruption.end(by: signal, before)
        }
        return code
    }
}

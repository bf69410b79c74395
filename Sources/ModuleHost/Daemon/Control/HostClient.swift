import AppService

/// A connection of a program to a host that runs on the same machine, over its [control socket](docs/control.md).
///
/// ```swift
/// let client = try HostClient(stateDirectory: "/var/lib/shop")
/// let reply = try await client.open("slate://greet?name=Mia")
/// ```
///
/// The connection is that of `hostd`'s own commands, with the same access: it reaches public routes, and others
/// with a token.
///
/// - Thread: Any. Calls of several tasks share the connection, and responses come as they become ready.
/// - Waiting: Each request takes the longest time to wait for its response; nil sets no limit. A cancelled
///   task stops waiting at once. Either way the error names the request, and the host receives `cancel`: a
///   call that has not begun is not made, and the task of an asynchronous handler is cancelled. Other requests
///   may still be carried out.
/// - Limits: 1024 calls that are not answered, 32 MiB that the host has not read, 16 MiB a response; beyond
///   that, ``HostClientError``. It takes one thread and three descriptors.
/// - End: When the last reference is released, or the host ends. A client does not connect again: create
///   another one.
public final class HostClient: Sendable {
    /// The time that a host may take to respond to a request that no module works on.
    public static let patience: Duration = .seconds(30)

    /// The limit that stands for the host's own deadlines: the time that the request may take by those, and
    /// 5 s more.
    ///
    /// The client asks the host for its deadlines with the first such request, and after a reload that it
    /// requests itself.
    public static let hostLimit: Duration = .seconds(Int64.max)

    /// The time that a response may take beyond the host's deadlines.
    private static let grace: Duration = .seconds(5)

    let directory: StateDirectory
    package let connection: ClientConnection
    /// The deadlines of the host; nil before they are needed.
    private let deadlines = Guarded<Slatefile.Deadlines?>(nil)

    /// Connects to the host that runs on a state directory.
    ///
    /// Blocks only where too many other connections wait already.
    ///
    /// - Parameters:
    ///   - path: The path of the state directory.
    ///   - time: The longest wait for a connection.
    /// - Throws: ``HostClientError``.
    public convenience init(
        stateDirectory path: String, within time: Duration = HostClient.patience
    ) throws(HostClientError) {
        try self.init(to: StateDirectory(path: path), within: time)
    }

    /// Connects to the host that runs on a state directory.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: The longest wait where too many other connections wait already.
    /// - Throws: ``HostClientError``.
    package init(
        to directory: StateDirectory, within time: Duration = HostClient.patience
    ) throws(HostClientError) {
        self.directory = directory
        let socket = try Self.connect(to: directory, within: time)
        do throws(SystemError) {
            connection = try ClientConnection(socket, to: directory)
        } catch {
            throw .failed(directory, error)
        }
    }

    private static func connect(
        to directory: StateDirectory, within time: Duration
    ) throws(HostClientError) -> Descriptor {
        do throws(SystemError) {
            let socket = try LocalSocket.connect(
                to: directory.path(of: StateDirectory.socketName), within: time)
            if try trusts(socket.peer()) { return socket }
        } catch {
            throw HostClientError(connecting: directory, error)
        }
        throw .notPermitted(directory)
    }

    deinit { connection.close() }

    /// Returns whether a token may be sent to the listening process: any user may have created a socket at
    /// that path.
    static func trusts(_ peer: SocketPeer, user: UInt32 = CurrentProcess.userID) -> Bool {
        user == 0 || ControlServer.isOwnerOrRoot(peer, owner: user)
    }

    /// The process of the host, where the system reports it.
    public var hostProcessID: Int32? { connection.hostProcessID }

    /// Calls a method by its name, and waits for the response.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    nonisolated(nonsending) func request(
        _ method: String, within time: Duration?,
        _ parameters: (inout JSONWriter) -> Void = { $0.object { _ in } }
    ) async throws(HostClientError) -> JSONValue {
        let (connection, id) = (connection, connection.nextID())
        let cancelled = HostClientError.cancelled(directory, request: method)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<JSONValue, HostClientError>, Never>) in
                connection.call(method, as: id, within: time, parameters) {
                    continuation.resume(returning: $0)
                }
                // A cancellation that came before the call found nothing to cancel.
                if Task.isCancelled { connection.cancel(id, because: cancelled) }
            }
        } onCancel: {
            connection.cancel(id, because: cancelled)
        }
        return try result.get()
    }

    /// Returns the longest wait for a request.
    ///
    /// - Parameters:
    ///   - time: The limit of the caller.
    ///   - deadline: Returns the time that the request may take by the deadlines of the host.
    /// - Returns: The limit, in place of ``hostLimit``.
    /// - Throws: ``HostClientError`` where the host does not tell its deadlines.
    nonisolated(nonsending) func limit(
        _ time: Duration?, _ deadline: (Slatefile.Deadlines) -> Duration
    ) async throws(HostClientError) -> Duration? {
        guard time == Self.hostLimit else { return time }
        if let known = deadlines.withLock({ $0 }) { return deadline(known) + Self.grace }
        let told = Slatefile.Deadlines(try await about()["deadlines"])
        deadlines.withLock { $0 = told }
        return deadline(told) + Self.grace
    }

    /// Makes the next request that needs the deadlines of the host ask for them.
    func forgetDeadlines() { deadlines.withLock { $0 = nil } }
}

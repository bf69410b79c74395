import AppService

/// The client end of a control socket: the connection of `hostd`'s commands to a host.
///
/// One call at a time; it waits for the response. Not to be shared between threads.
package final class ControlClient {
    /// The limit of a line: a response may be a long document.
    private static let lineLimit = JSONDocument.sizeLimit

    /// The time that a host may take to respond.
    package static let patience: Duration = .seconds(30)

    private let directory: StateDirectory
    private let socket: Descriptor
    private var input = LineBuffer(limit: ControlClient.lineLimit)
    private var buffer = [UInt8](readingUpTo: 1 << 16)
    private var isAtEnd = false
    private var lastID = 0
    /// The notifications that arrived between responses.
    private var notifications: [RPCRequest] = []

    /// Connects to the host that runs on a state directory.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: The longest wait where too many other connections wait already.
    /// - Throws: ``ControlClientError``.
    package init(
        to directory: StateDirectory, within time: Duration = ControlClient.patience
    ) throws(ControlClientError) {
        self.directory = directory
        let path = directory.path(of: StateDirectory.socketName)
        let peer: SocketPeer
        do throws(SystemError) {
            socket = try LocalSocket.connect(to: path, within: time)
            peer = try socket.peer()
        } catch {
            throw ControlClientError(connecting: directory, error)
        }
        guard Self.trusts(peer) else { throw .notPermitted(directory) }
    }

    /// Returns whether a token may be sent to the listening process: any user may have created a socket at
    /// that path.
    static func trusts(_ peer: SocketPeer, user: UInt32 = CurrentProcess.userID) -> Bool {
        user == 0 || ControlServer.isOwnerOrRoot(peer, owner: user)
    }

    /// The listening process, where the system reports it.
    package var hostProcessID: Int32? { (try? socket.peer())?.processID }

    /// Calls a method and waits for its response.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - time: The longest wait; nil for no limit.
    ///   - parameters: Writes an array or an object.
    /// - Returns: The result.
    /// - Throws: ``ControlClientError``.
    package func call(
        _ method: String, within time: Duration? = ControlClient.patience,
        _ parameters: (inout JSONWriter) -> Void = { $0.object { _ in } }
    ) throws(ControlClientError) -> JSONValue {
        lastID += 1
        let id = RPCID(lastID)
        var json = JSONWriter()
        json.rpcRequest(method, id: id, parameters)
        json.newline()
        let deadline = time.map { ContinuousClock.now + $0 }
        try send(json.bytes, deadline)
        while true {
            guard let line = try nextLine(deadline) else { throw .ended(directory) }
            switch RPCFrame(line) {
            case .single(.response(let response)) where response.id == id || response.id == .null:
                switch response.result {
                case .success(let result): return result
                case .failure(let error): throw .refused(error)
                }
            case .single(.request(let request, id: nil)): notifications.append(request)
            // A response to an earlier call, or from a process that is not a host.
            case .single(.response): continue
            case .single, .batch: throw .malformed(directory)
            }
        }
    }

    /// Waits for the next notification.
    ///
    /// - Returns: The notification, or nil where the host has closed the connection.
    /// - Throws: ``ControlClientError``.
    package func nextNotification() throws(ControlClientError) -> RPCRequest? {
        if !notifications.isEmpty { return notifications.removeFirst() }
        while let line = try nextLine(nil) {
            if case .single(.request(let request, id: nil)) = RPCFrame(line) { return request }
        }
        return nil
    }

    /// Waits until the host has closed the connection, as it does when it ends.
    ///
    /// - Returns: False on a timeout.
    /// - Throws: ``ControlClientError``.
    package func waitForEnd(within time: Duration?) throws(ControlClientError) -> Bool {
        let deadline = time.map { ContinuousClock.now + $0 }
        do throws(ControlClientError) {
            while try nextLine(deadline) != nil {}
            return true
        } catch {
            if case .timedOut = error { return false }
            throw error
        }
    }

    // MARK: Bytes

    private func send(
        _ bytes: [UInt8], _ deadline: ContinuousClock.Instant?
    ) throws(ControlClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(SystemError) {
                rest = rest.dropFirst(try socket.send(rest))
            } catch {
                // Bytes that a host has sent before it closed the connection can still be read.
                return
            }
            if !rest.isEmpty { try wait(for: .writing, deadline) }
        }
    }

    /// Returns the next line; nil where the host has closed the connection.
    private func nextLine(
        _ deadline: ContinuousClock.Instant?
    ) throws(ControlClientError) -> [UInt8]? {
        while true {
            switch input.next() {
            case .line(let line): return line
            case .tooLong: throw .malformed(directory)
            case .nothing: break
            }
            if isAtEnd { return nil }
            switch socket.receive(into: &buffer) {
            case .bytes(let count): input.append(buffer[..<count])
            case .nothing: try wait(for: .reading, deadline)
            case .end: isAtEnd = true
            }
        }
    }

    private func wait(
        for interest: PollSet.Interest, _ deadline: ContinuousClock.Instant?
    ) throws(ControlClientError) {
        var poll = PollSet()
        poll.insert(socket.number, interest)
        guard let deadline else {
            poll.wait()
            return
        }
        let rest = (deadline - ContinuousClock.now).wholeNanoseconds
        // Rounded up, so that the last millisecond is not spent polling.
        guard rest > 0, poll.wait(milliseconds: Int32(clamping: rest / 1_000_000 + 1)) else {
            throw .timedOut(directory)
        }
    }
}

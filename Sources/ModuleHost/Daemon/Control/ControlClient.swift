import AppService

/// The calling end of a control socket: what the commands of `hostd` speak to a host with.
///
/// One call at a time; it waits for what it asked. Not to be shared between threads.
package final class ControlClient {
    /// An answer may be a long document.
    private static let lineLimit = JSONDocument.sizeLimit

    /// The time that a host may take to answer.
    package static let patience: Duration = .seconds(30)

    private let directory: StateDirectory
    private let socket: Descriptor
    private var input = LineBuffer(limit: ControlClient.lineLimit)
    private var buffer = [UInt8](readingUpTo: 1 << 16)
    private var isAtEnd = false
    private var lastID = 0
    /// The notifications that came between answers.
    private var notifications: [RPCRequest] = []

    /// Connects to the host that runs on a state directory.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: How long to wait where too many others wait already.
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

    /// Returns whether the listening process may be sent a token: any user may have put a socket at that path.
    static func trusts(_ peer: SocketPeer, user: UInt32 = CurrentProcess.userID) -> Bool {
        user == 0 || ControlServer.isOwnerOrRoot(peer, owner: user)
    }

    /// The process that listens, where the system knows it.
    package var hostProcessID: Int32? { (try? socket.peer())?.processID }

    /// Calls a method and waits for its answer.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - time: How long to wait; nil for as long as it takes.
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
            // An answer that is overdue, or a host that is none.
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
    /// - Returns: False where time was up.
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
                // What a host that turns a client away has said before is still there to be read.
                return
            }
            if !rest.isEmpty { try wait(for: .writing, deadline) }
        }
    }

    /// The next line; nil where the host has closed the connection.
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
        // Up, so that the last millisecond is not spent asking.
        guard rest > 0, poll.wait(milliseconds: Int32(clamping: rest / 1_000_000 + 1)) else {
            throw .timedOut(directory)
        }
    }
}

import Glibc
import RedisStreams
import Synchronization

/// A proxy in front of a server, which may lose an answer: then the connection is closed, as by a network that fails.
final class LossyProxy: Sendable {
    private let folder: String
    private let listener: Int32
    private let losing = Mutex(false)
    private var socket: String { folder + "/proxy.sock" }
    var address: RedisAddress { get throws { try RedisAddress(url: "unix:" + socket) } }

    init(to server: String) throws {
        folder = try newFolder()
        listener = try listen(at: folder + "/proxy.sock")
        startThread { [weak self, listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                guard let upstream = try? connect(to: server) else {
                    close(client)
                    continue
                }
                self.forward(from: client, to: upstream, isAnswer: false)
                self.forward(from: upstream, to: client, isAnswer: true)
            }
        }
    }

    func loseNextAnswer() { losing.withLock { $0 = true } }

    private func forward(from: Int32, to: Int32, isAnswer: Bool) {
        startThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(from, &buffer, buffer.count)
                guard count > 0, let self else { break }
                // The server has done what it answers.
                if isAnswer, self.losing.withLock({ exchange(&$0, with: false) }) { break }
                guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
            }
            // Both directions end; the descriptors live as long as the process, so that neither thread uses another's.
            shutdown(from, Int32(SHUT_RDWR))
            shutdown(to, Int32(SHUT_RDWR))
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(socket)
        rmdir(folder)
    }
}

private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
    defer { value = new }
    return value
}

import Glibc
import RedisStreams

/// A server that answers whatever it receives with the same bytes, and perhaps others without end.
final class HostileServer: Sendable {
    private let folder: String
    private let listener: Int32
    var address: RedisAddress { get throws { try RedisAddress(url: "unix:" + folder + "/s.sock") } }

    init(_ reply: [UInt8], then rest: [UInt8] = []) throws {
        folder = try newFolder()
        listener = try listen(at: folder + "/s.sock")
        startThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                startThread {
                    var buffer = [UInt8](repeating: 0, count: 1 << 16)
                    let flags = Int32(MSG_NOSIGNAL)
                    while read(client, &buffer, buffer.count) > 0 {
                        guard send(client, reply, reply.count, flags) == reply.count else { break }
                        while !rest.isEmpty, send(client, rest, rest.count, flags) > 0 {}
                    }
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(folder + "/s.sock")
        rmdir(folder)
    }
}

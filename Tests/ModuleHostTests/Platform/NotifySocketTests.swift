import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Notify sockets")
struct NotifySocketTests {
    @Test("a name that takes all the room of an address is one, and another byte is too many")
    func room() throws {
        // 108 bytes, of which a path needs the last one for the NUL at its end.
        let longest = "@modulehost-\(CurrentProcess.id)-" + String(repeating: "n", count: 108)
        let name = String(longest.prefix(108))
        let manager = try NotifyReceiver(at: name)
        let socket = try NotifySocket(to: name)
        try socket.send("READY=1")
        #expect(try manager.next() == "READY=1")
        let path = "/" + String(repeating: "p", count: 106)
        _ = try NotifySocket(to: path)
        for tooLong in [name + "n", path + "p"] {
            #expect(throws: SystemError.invalid) { _ = try NotifySocket(to: tooLong) }
        }
    }
}

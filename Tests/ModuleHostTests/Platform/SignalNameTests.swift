import Testing

@testable import ModuleHostCore

@Suite("Signal names")
struct SignalNameTests {
    @Test("standard signals, by their plain names")
    func standard() throws {
        for name in SignalName.standard {
            let signal = try SignalName(name)
            #expect(signal.name == name && signal.realTimeOffset == nil)
        }
        #expect(try SignalName("TERM") == .terminate && SignalName("USR2") == .user2)
    }

    @Test("real-time signals, by their distance from the first")
    func realTime() throws {
        #expect(try SignalName("RTMIN+1").realTimeOffset == 1)
        #expect(try SignalName("RTMIN+30").realTimeOffset == 30)
    }

    @Test(
        "says why a signal cannot be had",
        arguments: [
            ("KILL", SignalName.ParsingError.uncatchable("KILL")),
            ("SIGSTOP", .uncatchable("STOP")),
            ("SEGV", .crash("SEGV")), ("CHLD", .reserved("CHLD")),
            ("RTMIN+0", .realTime("RTMIN+0")),
            ("RTMIN+31", .realTime("RTMIN+31")), ("RTMIN+-1", .realTime("RTMIN+-1")),
            ("RTMIN+ 1", .realTime("RTMIN+ 1")), ("sigusr1", .spelling("sigusr1", right: "USR1")),
            ("rtmin+3", .spelling("rtmin+3", right: "RTMIN+3")),
            ("SIGUSR3", .unknown("SIGUSR3", nearest: "USR1")), ("", .unknown("", nearest: nil)),
            ("10", .unknown("10", nearest: nil)),
        ])
    func refused(name: String, error: SignalName.ParsingError) {
        #expect(throws: error) { try SignalName(name) }
    }
}

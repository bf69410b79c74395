import Testing

@testable import ModuleHost

@Suite("Origins in words, read back")
struct OriginWordsTests {
    static let origins: [Origin] =
        [.host, .inbox, .push]
        + ["x.a", "host.a", "signal.a", "control.a", "push.inbox"].map {
            .local(ModuleID(checked: $0))
        }
        + [0, 1000, .max].flatMap { uid in
            [1, Int32.max].map { .control(uid: uid, pid: $0) }
        }
        + ["USR1", "RTMIN+3"].flatMap { name in
            [nil, 0, UInt32.max].flatMap { uid in
                [nil, 1, Int32.max].flatMap { pid in
                    [nil, 0, -1, Int32.min, .max].map {
                        .signal(name: name, uid: uid, pid: pid, value: $0)
                    }
                }
            }
        }

    @Test("each is what it was", arguments: origins)
    func back(origin: Origin) {
        #expect(Origin(words: "\(origin)") == origin)
    }

    @Test(
        "what describes none is none",
        arguments: [
            "", " ", "host ", " host", "Host", "pussh", "host x", "x", "x.", "local", "inbox 1",
            "control", "control from pid 1", "control from pid x (uid 1)",
            "control from pid 1 (uid -5)", "control from pid 1 (uid 4294967296)",
            "control from pid 1 (uid 1) and more", "control  from pid 1 (uid 1)",
            "signal", "signal USR1 x", "signal USR1, value x", "signal USR1, value 2147483648",
        ])
    func none(words: String) {
        #expect(Origin(words: words) == nil)
    }
}

import Testing

@testable import ModuleHostCore

@Suite("Origins that a module's process may act for")
struct DeliveredOriginsTests {
    private let module = ModuleID(checked: "x.a")

    private func sender(_ number: Int32) -> Origin { .control(uid: 1000, pid: number) }

    @Test(
        "its own, and those without a sender, need not be delivered",
        arguments: [Origin.local(ModuleID(checked: "x.a")), .push, .inbox])
    func always(origin: Origin) {
        #expect(DeliveredOrigins().contains(origin, for: module))
    }

    @Test(
        "what does not come from outside is never one, delivered or not",
        arguments: [Origin.host, .local(ModuleID(checked: "x.b"))])
    func local(origin: Origin) {
        var origins = DeliveredOrigins()
        origins.note(origin)
        #expect(!origins.contains(origin, for: module))
    }

    @Test("a sender is one as soon as the host delivers it, and no other is")
    func senders() {
        var origins = DeliveredOrigins()
        let signal = Origin.signal(name: "USR1", uid: 0, pid: 9, value: 3)
        for origin in [sender(1), signal] {
            #expect(!origins.contains(origin, for: module))
            origins.note(origin)
            #expect(origins.contains(origin, for: module))
        }
        #expect(!origins.contains(.control(uid: 0, pid: 1), for: module))
        #expect(!origins.contains(.signal(name: "USR1", uid: 0, pid: 9, value: nil), for: module))
    }

    @Test("the latest ones are remembered, and no more than twice as many")
    func bounded() {
        var origins = DeliveredOrigins(limit: 3)
        for number in 1...100 {
            origins.note(sender(Int32(number)))
            // An origin that is delivered again is as new as any.
            origins.note(sender(1000))
        }
        let remembered = (1...100).filter { origins.contains(sender(Int32($0)), for: module) }
        #expect(remembered.suffix(2) == [99, 100])
        #expect(remembered.count <= 5)
        #expect(origins.contains(sender(1000), for: module))
    }
}

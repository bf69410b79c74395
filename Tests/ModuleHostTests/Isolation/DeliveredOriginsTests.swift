import Testing

@testable import ModuleHost

@Suite("Origins that a module's process may act for")
struct ToldOriginsTests {
    private let module = ModuleID(checked: "x.a")

    private func sender(_ number: Int32) -> Origin { .control(uid: 1000, pid: number) }

    @Test(
        "its own, and those without a sender, need not be told",
        arguments: ["x.a", "push", "inbox"])
    func always(text: String) {
        let told = DeliveredOrigins()
        #expect(told.find(text, for: module)?.description == text)
    }

    @Test(
        "what does not come from outside is never one, told or not",
        arguments: [Origin.host, .local(ModuleID(checked: "x.b"))])
    func local(origin: Origin) {
        var told = DeliveredOrigins()
        told.note(origin)
        #expect(!told.contains(origin, for: module))
        #expect(told.find("\(origin)", for: module) == nil)
    }

    @Test("a sender is one from then on that the host tells of it, and no other is")
    func senders() {
        var told = DeliveredOrigins()
        let signal = Origin.signal(name: "USR1", uid: 0, pid: 9, value: 3)
        for origin in [sender(1), signal] {
            #expect(!told.contains(origin, for: module))
            told.note(origin)
            #expect(told.contains(origin, for: module))
            #expect(told.find("\(origin)", for: module) == origin)
        }
        #expect(!told.contains(.control(uid: 0, pid: 1), for: module))
        #expect(!told.contains(.signal(name: "USR1", uid: 0, pid: 9, value: nil), for: module))
    }

    @Test("the latest ones are remembered, and no more than twice as many")
    func bounded() {
        var told = DeliveredOrigins(limit: 3)
        for number in 1...100 {
            told.note(sender(Int32(number)))
            // One that is told again is as new as any.
            told.note(sender(1000))
        }
        let remembered = (1...100).filter { told.contains(sender(Int32($0)), for: module) }
        #expect(remembered.suffix(2) == [99, 100])
        #expect(remembered.count <= 5)
        #expect(told.contains(sender(1000), for: module))
    }
}

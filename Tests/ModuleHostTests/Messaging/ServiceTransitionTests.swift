import Testing

@testable import ModuleHostCore

@Suite("ServiceTransition")
struct ServiceTransitionTests {
    private let old = ModuleSlot(number: 1, id: nil)
    private let other = ModuleSlot(number: 2, id: nil)
    private let new = ModuleSlot(number: 3, id: nil)

    private func service(_ type: Any.Type, of slot: ModuleSlot) -> AnyService {
        AnyService("\(type)", ObjectIdentifier(type), of: slot)
    }

    @Test("a module and the one that replaces it have their own services of the same type")
    func takeAll() {
        var transition = ServiceTransition(leaving: [old, other])
        let services = [
            service(Int.self, of: old), service(Int8.self, of: other), service(Int16.self, of: old),
        ]
        for each in services { transition.leaving.insert(each) }
        let replacement = service(Int.self, of: new)
        transition.staged.insert(replacement)

        #expect(transition.takeAll(of: old).map(\.name) == ["Int", "Int16"])
        #expect(transition.takeAll(of: old).isEmpty)
        #expect(transition.leaving[ObjectIdentifier(Int.self)] == nil)
        #expect(transition.staged[ObjectIdentifier(Int.self)] === replacement)
        #expect(transition.leaving.all.map(\.name) == ["Int8"])
        #expect(transition.takeAll(of: new).first === replacement)
        #expect(Array(transition.staged.all).isEmpty)
    }

    @Test("a module takes only its own service, once")
    func take() {
        var services = ServiceTransition.Services()
        let type = ObjectIdentifier(Int.self)
        services.insert(service(Int.self, of: old))
        #expect(services.take(type, of: other) == nil)
        #expect(services.take(type, of: old)?.name == "Int")
        #expect(services.take(type, of: old) == nil)
        #expect(services.takeAll(of: old).isEmpty)
        services.insert(service(Int.self, of: other))
        #expect(services.takeAll(of: other).map(\.name) == ["Int"])
    }
}

import ModuleHost
import ModuleHostTesting
import Testing

@testable import Shop

/// The modules of the shop, each alone and all together, in hosts whose clock the test moves.
@Suite("The shop", .timeLimit(.minutes(5)))
struct ShopTests {
    private let prices = TestModule(
        PriceModule.self, id: "com.example.prices", config: #"{ "prices": { "tea": 4 } }"#)

    /// The slatefile of the shop, with its isolated module in the program that was built with these tests.
    private func shop() async throws -> TestHost {
        let path = "\(#filePath)".replacing("Tests/ShopTests.swift", with: "Shop/slatefile.json")
        let slatefile = String(decoding: try readFile(at: path, limit: 1 << 20), as: UTF8.self)
        return try await TestHost(slatefile: slatefile, .init(executable: "Shop"))
    }

    @Test("a login takes two seconds of the host's clock, and holds up nothing")
    func login() async throws {
        let host = try await TestHost(modules: [LoginModule.self, CartModule.self])
        async let session = host.open("slate://login/mia").decode(LoginModule.Session.self)
        try await host.logged("mia is signing in", by: "test.login")
        await #expect(throws: HandlerFailure.self) { try await host.open("slate://cart") }
        try await host.advance(by: .seconds(2))
        #expect(try await session == LoginModule.Session(user: "mia"))
        try await host.settle()
        #expect(try await host.open("slate://cart").decode(CartModule.Cart.self).user == "mia")
    }

    @Test("the cart has the price of each item, and is on the disk in the background")
    func cart() async throws {
        let host = try await TestHost(modules: [TestModule(CartModule.self), prices])
        try await host.post("user.signed-in", LoginModule.Session(user: "mia"))
        let cart = try await host.open("slate://add/tea").decode(CartModule.Cart.self)
        #expect(cart == CartModule.Cart(user: "mia", items: ["tea"], total: 4))
        let error = await #expect(throws: HandlerFailure.self) {
            try await host.open("slate://add/car")
        }
        #expect(error?.description.contains("there is no 'car' in this shop") == true)
        try await host.deliver(.background)
        #expect(try host.folder.text(of: "cart.txt") == "tea\n")
    }

    @Test("a full disk is an error of the cart, and of no other module")
    func fullDisk() async throws {
        let host = try await TestHost(modules: [TestModule(CartModule.self), prices])
        try await host.post("user.signed-in", LoginModule.Session(user: "mia"))
        host.isDiskFull = true
        #expect(try await host.deliver(.background)?.failed == 1)
        host.isDiskFull = false
        #expect(await host.stop() == .stopped)
    }

    @Test("the prices have no process before the first is asked for, and none after ten minutes")
    func onDemand() async throws {
        let host = try await shop()
        #expect(try await host.state(of: "com.example.prices") == .onDemand)
        #expect(try await host.open("shop://price/cup").text == "7")
        #expect(try await host.state(of: "com.example.prices") == .running)
        try await host.advance(by: .seconds(600))
        try await host.settle()
        #expect(try await host.state(of: "com.example.prices") == .onDemand)
        #expect(try await host.open("shop://price/tea").text == "4")
        #expect(await host.stop() == .stopped)
    }

    @Test(
        "the shop as its slatefile says: when the process of the prices is killed, the cart stays")
    func killed() async throws {
        let host = try await shop()
        try await host.post("user.signed-in", LoginModule.Session(user: "mia"))
        try await host.open("shop://add/tea")
        try await host.killProcess(of: "com.example.prices")
        let cart = try await host.open("shop://add/cup").decode(CartModule.Cart.self)
        #expect(cart == CartModule.Cart(user: "mia", items: ["tea", "cup"], total: 11))
        #expect(await host.stop() == .stopped)
    }
}

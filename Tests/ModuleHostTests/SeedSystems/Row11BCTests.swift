import TestSupport
import Testing

@testable import ModuleHostCore

/// The events that the controllers of a page receive.
protocol CartResponder: AnyObject {
    func cartChanged(to count: Int) throws
}

/// The events that only some of them receive.
protocol PageResponder: AnyObject {
    func pageAppeared()
}

/// What happened on a page, in order.
final class PageNotes {
    var all: [String] = []
}

/// One part of a page's business; it does what the test wants when the cart changes.
final class CartController: CartResponder {
    let name: String
    private let notes: PageNotes
    var onChange: () throws -> Void = {}

    init(_ name: String, _ notes: PageNotes) {
        self.name = name
        self.notes = notes
    }

    func cartChanged(to count: Int) throws {
        notes.all.append("\(name) \(count)")
        try onChange()
    }
}

/// A controller that receives the events of the page as well.
final class HeaderController: CartResponder, PageResponder {
    private let notes: PageNotes

    init(_ notes: PageNotes) { self.notes = notes }

    func cartChanged(to count: Int) { notes.all.append("header \(count)") }
    func pageAppeared() { notes.all.append("header appeared") }
}

/// An owner of controllers: a page, with a center of its own.
final class ShopPage {
    let notes = PageNotes()
    let center: CommunicationCenter

    init() {
        center = CommunicationCenter { [notes] member, error in
            notes.all.append("\((member as? CartController)?.name ?? "?") failed: \(error)")
        }
    }

    func controllers(_ names: String...) -> [CartController] {
        let all = names.map { CartController($0, notes) }
        for controller in all { center.add(controller) }
        return all
    }

    @discardableResult
    func changeCart(to count: Int) -> DeliveryReport {
        center.send(to: (any CartResponder).self) { try $0.cartChanged(to: count) }
    }
}

/// Row 11 of the seed systems: an owner's controllers, and a center that notifies them.
@Suite("Row 11: controllers and their center", .timeLimit(.minutes(10)))
struct Row11BCTests {
    private let page = ShopPage()

    // MARK: The verbs

    @Test("a message goes to every controller that implements it, in order, and to no other")
    func send() {
        _ = page.controllers("list", "price")
        page.center.add(HeaderController(page.notes))
        page.center.add(PageNotes())
        #expect(page.changeCart(to: 2).delivered == 3)
        let report = page.center.send(to: (any PageResponder).self) { $0.pageAppeared() }
        #expect(report.delivered == 1)
        #expect(page.notes.all == ["list 2", "price 2", "header 2", "header appeared"])
    }

    @Test("a message stays with its owner")
    func scope() {
        let other = ShopPage()
        _ = page.controllers("list")
        _ = other.controllers("other")
        page.changeCart(to: 1)
        #expect(page.notes.all == ["list 1"])
        #expect(other.notes.all == [])
    }

    @Test("a controller may belong to two owners, and is notified by each")
    func shared() {
        let other = ShopPage()
        let list = page.controllers("list")
        other.center.add(list[0])
        other.changeCart(to: 2)
        page.changeCart(to: 1)
        #expect(page.notes.all == ["list 2", "list 1"])
    }

    @Test("a controller that goes receives no more, and one that comes again stands last")
    func members() {
        let all = page.controllers("list", "price")
        page.center.remove(all[0])
        page.changeCart(to: 1)
        page.center.add(all[0])
        page.changeCart(to: 2)
        #expect(page.notes.all == ["price 1", "price 2", "list 2"])
    }

    @Test("a controller that fails is reported to the owner, and the others are notified")
    func failure() {
        let all = page.controllers("list", "price")
        all[0].onChange = { throw TestError() }
        let report = page.changeCart(to: 1)
        #expect(report.delivered == 1 && report.failed == 1)
        #expect(page.notes.all == ["list 1", "list failed: broken", "price 1"])
    }

    // MARK: What breaks elsewhere

    /// A change of the members, made by the second of four while a message goes round.
    struct Change: CustomTestStringConvertible {
        var testDescription: String
        var make: @Sendable (ShopPage, [CartController]) -> Void
        var now: String
        var next: String
    }

    static let changes = [
        Change(
            testDescription: "itself goes", make: { $0.center.remove($1[1]) },
            now: "a b c d", next: "a c d"),
        Change(
            testDescription: "the one before goes", make: { $0.center.remove($1[0]) },
            now: "a b c d", next: "b c d"),
        Change(
            testDescription: "the next goes", make: { $0.center.remove($1[2]) },
            now: "a b d", next: "a b d"),
        Change(
            testDescription: "the last goes", make: { $0.center.remove($1[3]) },
            now: "a b c", next: "a b c"),
        Change(
            testDescription: "all go", make: { page, all in all.forEach(page.center.remove) },
            now: "a b", next: ""),
        Change(
            testDescription: "one comes", make: { page, _ in _ = page.controllers("new") },
            now: "a b c d", next: "a b c d new"),
        Change(
            testDescription: "the next goes and comes again",
            make: { page, all in
                page.center.remove(all[2])
                page.center.add(all[2])
            }, now: "a b d", next: "a b d c"),
        Change(
            testDescription: "all go and others come",
            make: { page, all in
                all.forEach(page.center.remove)
                _ = page.controllers("new", "newer")
            }, now: "a b", next: "new newer"),
    ]

    @Test("controllers may come and go while a message goes round", arguments: changes)
    func changing(change: Change) {
        let all = page.controllers("a", "b", "c", "d")
        defer { all[1].onChange = {} }
        all[1].onChange = { [page] in
            all[1].onChange = {}
            change.make(page, all)
        }
        page.changeCart(to: 1)
        #expect(page.notes.all == change.now.split(separator: " ").map { "\($0) 1" })
        page.notes.all = []
        page.changeCart(to: 2)
        #expect(page.notes.all == change.next.split(separator: " ").map { "\($0) 2" })
    }

    @Test("a controller may send while it is notified; that message goes round first")
    func nested() {
        let all = page.controllers("a", "b")
        all[0].onChange = { [unowned page] in
            all[0].onChange = {}
            page.changeCart(to: 2)
        }
        page.changeCart(to: 1)
        #expect(page.notes.all == ["a 1", "a 2", "b 2", "b 1"])
    }

    @Test("messages that call each other for ever are an error and no crash")
    func endless() {
        let all = page.controllers("a")
        var refusals: [DeliveryReport.Refusal?] = []
        all[0].onChange = { [unowned page] in refusals.append(page.changeCart(to: 1).refusal) }
        page.changeCart(to: 0)
        all[0].onChange = {}
        #expect(page.notes.all.count == 64)
        #expect(refusals.first == .tooDeep && refusals.dropFirst().allSatisfy { $0 == nil })
    }

    // MARK: The host's center

    @Test("the app has a center of the same kind: modules notify modules, in slatefile order")
    func host() async throws {
        let probe = Probe()
        probe.when("b memory-warning") { module in
            module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("ping") == ["a ping", "b ping", "c ping"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("status events go the same way: a module's controllers receive them where it stands")
    func status() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            module.context.center.add(ProbeMember("a's controller", probe))
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        let background = ["a background", "a's controller background", "b background"]
        #expect(probe.entries("background") == background)
        #expect(
            probe.entries("launch") == ["a launch", "a's controller launch", "b launch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("and there, too, members come and go while an event goes round")
    func hostChanging() async throws {
        let probe = Probe()
        let going = ProbeMember("going", probe)
        let coming = ProbeMember("coming", probe)
        probe.when("b init") { $0.context.center.add(going) }
        probe.when("a background") { module in
            module.context.center.remove(going)
            module.context.center.add(coming)
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        try test.deliver(.foreground)
        try test.deliver(.background)
        await test.settled()
        #expect(probe.entries("going") == ["going launch"])
        #expect(
            probe.entries("background") == [
                "a background", "b background",
                "a background", "coming background", "b background",
            ])
        #expect(await test.stopped() == .stopped)
    }
}

import AppService
import TestSupport

@testable import ModuleHostCore

/// Where a test's modules leave their holds, for the test to end.
final class HoldShelf: Sendable {
    private let holds = Guarded<[String: ModuleHold]>([:])

    /// Takes a hold in a module's name, for a reason by which the test knows it.
    func take(
        _ reason: String, _ module: ProbeModule, expiry: (() -> Void)? = nil
    ) throws(HoldError) {
        let hold = try module.context.hold(reason, expiry: expiry)
        holds.withLock { $0[reason] = hold }
    }

    subscript(reason: String) -> ModuleHold? { holds.withLock { $0[reason] } }

    func end(_ reason: String) { self[reason]?.end() }

    /// Releases a hold without ending it.
    func release(_ reason: String) {
        let hold = holds.withLock { $0.removeValue(forKey: reason) }
        withExtendedLifetime(hold) {}
    }
}

extension Probe {
    /// Lets a module take a hold when it is first notified of something; the expiry is noted.
    func hold(_ entry: String, as reason: String, on shelf: HoldShelf, noting expiry: String? = nil)
    {
        when(entry) { [weak self] module in
            guard shelf[reason] == nil else { return }
            try shelf.take(reason, module, expiry: expiry.map { text in { self?.note(text) } })
        }
    }
}

extension HostUnderTest {
    /// Waits until what was accepted, and what came of that, has been worked off.
    func calm() async { for _ in 0..<4 { await settled() } }

    /// Moves the clock in steps that no handler can mistake for its deadline, and waits after each.
    ///
    /// The app must not end on the way.
    func pass(_ duration: Duration, by step: Duration = .milliseconds(500)) async {
        await calm()
        var left = duration
        while left > .zero {
            time.advance(by: min(step, left))
            left -= step
            await calm()
        }
    }

    /// The holds that are open, such as `x.a background: upload, 10s left`.
    var holds: [String] {
        host.holds.open.map { hold in
            "\(hold.module) \(hold.step.rawValue): \(hold.reason)"
                + (hold.remaining.map { ", \($0.briefText) left" } ?? "")
        }
    }
}

import Testing

/// A slice of the exploration; `scripts/life` visits all states.
struct ExplorationTests {
    @Test("no state of a slice of the apps breaks an invariant", arguments: 0..<2)
    func slice(half: Int) {
        var states = 0
        let apps = ExploredApps.two.shuffled(seed: 1)
        for app in stride(from: half, to: apps.count, by: 2) where states < 35_000 {
            let result = Exploration(apps[app], .all).all(limit: 35_000 - states)
            states += result.states
            #expect(result.finding == nil)
        }
        let three = ExploredApps.three.shuffled(seed: 2)
        for app in stride(from: half, to: three.count, by: 2) where states < 50_000 {
            let result = Exploration(three[app], .none).all(limit: 50_000 - states)
            states += result.states
            #expect(result.finding == nil)
        }
        #expect(states == 50_000)
    }
}

extension Array {
    fileprivate func shuffled(seed: UInt64) -> [Element] {
        var random = SplitMix(state: seed)
        return shuffled(using: &random)
    }
}

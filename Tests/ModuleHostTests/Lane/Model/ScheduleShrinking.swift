extension Schedule {
    /// The smallest schedule to be had from this one, by leaving out steps and acts, that still fails.
    ///
    /// - Parameter fails: Whether a schedule fails; where threads race, in one of some attempts.
    /// - Returns: The schedule that is left.
    func shrunk(while fails: (Schedule) -> Bool) -> Schedule {
        var smallest = self
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            var length = max(smallest.steps.count / 2, 1)
            while length > 0 {
                var start = 0
                while start < smallest.steps.count {
                    var candidate = smallest
                    let end = min(start + length, candidate.steps.count)
                    candidate.steps.removeSubrange(start..<end)
                    if fails(candidate) {
                        (smallest, isSmaller) = (candidate, true)
                    } else {
                        start += length
                    }
                }
                length /= 2
            }
            var number = 0
            while let candidate = smallest.without(act: number) {
                if fails(candidate) {
                    (smallest, isSmaller) = (candidate, true)
                } else {
                    number += 1
                }
            }
        }
        return smallest
    }

    /// The schedule without one of its acts, and what that leads to; nil where there are not so many.
    func without(act number: Int) -> Schedule? {
        var left = number
        func less(_ acts: [Act]) -> [Act] {
            acts.compactMap { act in
                left -= 1
                if left == -1 { return nil }
                switch act {
                case .call(var call):
                    call.acts = less(call.acts)
                    return .call(call)
                case .send(var broadcast):
                    broadcast.acts = broadcast.acts.map(less)
                    return .send(broadcast)
                case .post(var event):
                    event.acts = event.acts.map(less)
                    return .post(event)
                case .begin(var slices):
                    slices.acts = slices.acts.map(less)
                    return .begin(slices)
                case .stall, .meet, .open, .wake, .fail: return act
                }
            }
        }
        var schedule = self
        for (index, step) in steps.enumerated() {
            guard case .deliver(var event) = step else { continue }
            event.acts = event.acts.map(less)
            schedule.steps[index] = .deliver(event)
        }
        return left < 0 ? schedule : nil
    }
}

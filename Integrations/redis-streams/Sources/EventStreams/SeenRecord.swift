/// A host's note of what it has taken over, and when it noted that.
package struct SeenRecord: Hashable, Sendable {
    /// Milliseconds by the clock of the engine.
    package let time: UInt64
    package let cursors: [StreamName: StreamPosition]

    package init(time: UInt64, cursors: [StreamName: StreamPosition]) {
        self.time = time
        self.cursors = cursors
    }

    /// Returns the position up to which entries of a stream may be removed: every other living host has them, and the owner, if it
    /// lives, is known to have published them.
    ///
    /// - Parameters:
    ///   - source: The stream.
    ///   - records: The notes of all hosts.
    ///   - now: The time by the clock of the engine.
    ///   - patience: The milliseconds that an absent host is waited for.
    package static func removable(
        from source: StreamName, in records: [StreamName: SeenRecord], now: UInt64, patience: UInt64
    ) -> StreamPosition {
        let living = records.filter { $0.value.isLiving(now: now, patience: patience) }
        guard living.contains(where: { $0.key != source }) else { return .start }
        return living.map { $0.value.cursors[source] ?? .start }.min() ?? .start
    }

    package func isLiving(now: UInt64, patience: UInt64) -> Bool {
        // A clock that was set back makes no host absent.
        time >= now || now - time <= patience
    }
}

extension SeenRecord: LosslessStringConvertible {
    package var description: String {
        ([String(time)] + cursors.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
            .joined(separator: " ")
    }

    package init?(_ description: String) {
        let words = description.split(separator: " ", omittingEmptySubsequences: false)
        guard let first = words.first, let time = UInt64(first) else { return nil }
        var cursors: [StreamName: StreamPosition] = [:]
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let name = StreamName(String(parts[0])),
                let position = StreamPosition(String(parts[1]))
            else { return nil }
            cursors[name] = position
        }
        self.init(time: time, cursors: cursors)
    }
}

/// The secret that a remote call may carry to reach routes that are not public.
///
/// Nothing shows it: not `print`, interpolation or the debugger's reflection.
package struct RouteToken: Sendable {
    private let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns whether the token is `other`, in a time that depends on the length of `other` alone.
    package func matches(_ other: String) -> Bool { matches(RouteToken(other)) }

    /// Returns whether the token is `other`, in a time that depends on the length of `other` alone.
    package func matches(_ other: RouteToken) -> Bool {
        let other = other.bytes
        var difference = bytes.count ^ other.count
        for (index, byte) in other.enumerated() {
            let mine = index < bytes.count ? bytes[index] : ~byte
            difference |= Int(mine ^ byte)
        }
        return difference == 0
    }
}

extension RouteToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "•••" }
    package var debugDescription: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

public struct ModuleID: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init?(_ text: String) { description = text }
}

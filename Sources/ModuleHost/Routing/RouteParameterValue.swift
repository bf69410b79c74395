/// A value that can be written as a parameter: as text from which a request of the same type can be decoded.
public protocol RouteParameterValue: Sendable {
    /// The values: one text for most types, one for each element of an array, none for nil.
    var parameterTexts: [String] { get }
}

extension RouteParameterValue where Self: LosslessStringConvertible {
    /// The value's description.
    public var parameterTexts: [String] { [description] }
}

extension String: RouteParameterValue {}
extension Substring: RouteParameterValue {}
extension Bool: RouteParameterValue {}
extension Int: RouteParameterValue {}
extension Int64: RouteParameterValue {}
extension UInt: RouteParameterValue {}
extension UInt64: RouteParameterValue {}
extension Double: RouteParameterValue {}
extension Float: RouteParameterValue {}

extension DateTime: RouteParameterValue {
    /// The date in ISO 8601.
    public var parameterTexts: [String] { [description] }
}

extension Optional: RouteParameterValue where Wrapped: RouteParameterValue {
    /// The text of the value; none for nil: the parameter is left out.
    public var parameterTexts: [String] { self?.parameterTexts ?? [] }
}

extension Array: RouteParameterValue where Element: RouteParameterValue {
    /// The values of all elements, in order.
    public var parameterTexts: [String] { flatMap(\.parameterTexts) }
}

extension RouteParameters: ExpressibleByDictionaryLiteral {
    /// Creates parameters from values of Swift, as in `["name": "mia", "page": 2]`.
    ///
    /// A name without values, such as nil, is left out; of a repeated name all values are kept, in order.
    ///
    /// - Parameter elements: Names with their values.
    public init(dictionaryLiteral elements: (String, any RouteParameterValue)...) {
        self.init(
            list: elements.lazy.map { ($0.0, $0.1.parameterTexts) }.filter { !$0.1.isEmpty })
    }
}

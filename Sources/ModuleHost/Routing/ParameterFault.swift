/// The reason why parameters are not a valid request: the parameter, its value, and the expectation.
public struct ParameterFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name; empty where the fault is none of one parameter.
    public let name: String
    /// The kind of fault.
    public let kind: Kind

    /// The kinds of fault, each with the values its message needs.
    @nonexhaustive public enum Kind: Hashable, Sendable {
        /// No such parameter; what was expected.
        case missing(expected: String)
        /// A value of another form.
        case mismatch(value: String, expected: String)
        /// A number that its type cannot hold.
        case outOfRange(value: String, type: String)
        /// Several values where one is taken.
        case repeated(Int)
        /// The type itself refused the value.
        case refused(value: String?, String)
        /// A request that is not a set of parameters, such as an array.
        case request(String)
    }

    /// Parameter, value and what was expected, such as
    /// `parameter 'style': expected a whole number, found 'red'`.
    public var description: String {
        switch kind {
        case .missing(let expected): "parameter '\(excerpt(name))' is missing: expected \(expected)"
        case .mismatch(let value, let expected):
            "parameter '\(excerpt(name))': expected \(expected), found \(quoted(value))"
        case .outOfRange(let value, let type):
            "parameter '\(excerpt(name))': \(excerpt(value)) does not fit \(type)"
        case .repeated(let count):
            "parameter '\(excerpt(name))' is given \(count) times; it takes one value"
        case .refused(let value?, let reason):
            "parameter '\(excerpt(name))': \(quoted(value)): \(reason)"
        case .refused(nil, let reason) where name.isEmpty: "the request is refused: \(reason)"
        case .refused(nil, let reason): "parameter '\(excerpt(name))': \(reason)"
        case .request(let type):
            "the request type \(type) is not made of parameters; use a struct with a property for each"
        }
    }
}

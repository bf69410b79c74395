/// The reason why parameters are not a valid request: the parameter, its value, and the expectation.
public struct ParameterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name; empty where the error does not concern a single parameter.
    public let name: String
    /// The kind of error.
    package let kind: Kind

    /// The kinds of error, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        /// The parameter is missing; the value is the expectation.
        case missing(expected: String)
        /// The value has another form.
        case mismatch(value: String, expected: String)
        /// The number does not fit its type.
        case outOfRange(value: String, type: String)
        /// There are several values where one is accepted.
        case repeated(Int)
        /// The type itself rejected the value.
        case refused(value: String?, String)
        /// The request is not a set of parameters, but for example an array.
        case request(String)
    }

    /// The parameter, the value and the expectation, such as
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

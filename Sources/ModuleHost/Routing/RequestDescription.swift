/// The description of a request, found by decoding one without values and recording each requested value.
package struct RequestDescription: Hashable, Sendable {
    /// One parameter.
    package struct Field: Hashable, Sendable {
        package let name: String
        /// The type as it is written in Swift, without its optional.
        package let type: String
        /// The expected value, such as `a whole number`.
        package let expectation: String
        /// All possible values, if the type is an enum; empty for any other.
        package let values: [String]
        package let isOptional: Bool
        /// Whether the parameter takes several values.
        package let isList: Bool
        /// A value that can be decoded.
        package let example: String
    }

    package private(set) var fields: [Field] = []
    /// Whether these are all fields: a type may reject an example value before it asks for the rest.
    package private(set) var isComplete = false

    /// Creates a description from given fields.
    package init(fields: [Field]) {
        self.fields = fields
        isComplete = true
    }

    /// - Parameters:
    ///   - type: The type of the request.
    ///   - names: The names that its pattern has, for a type that takes any, such as a dictionary.
    package init(of type: any Decodable.Type, names: [String] = []) {
        // A type that rejects one example may accept another.
        for text in ["text", "1", "2026-03-01T09:41:00Z", "https://www.example.com/", ""] {
            let questions = RequestQuestions(text: text, names: names)
            isComplete = questions.ask(type)
            if isComplete || questions.fields.count >= fields.count { fields = questions.fields }
            if isComplete { return }
        }
    }
}

/// The parameters that a request asks for while it is decoded.
final class RequestQuestions {
    /// The example for every requested text.
    let text: String
    /// The names that a request which takes any has.
    let names: [String]
    /// The names of which a type asked first whether they are there.
    private var optionals: Set<String> = []
    private var asked: [(name: String, type: Any.Type, isOptional: Bool, value: ExampleValue)] = []

    init(text: String, names: [String]) {
        self.text = text
        self.names = names
    }

    /// Decodes a request, as far as examples allow.
    ///
    /// - Returns: Whether the decoding reached the end.
    fileprivate func ask(_ type: any Decodable.Type) -> Bool {
        (try? type.init(from: ExampleDecoder(questions: self, value: ExampleValue()))) != nil
    }

    /// Records a request for a parameter.
    ///
    /// - Returns: The record for the value that the decoder provides.
    func note(_ name: String, _ type: Any.Type) -> ExampleValue {
        if let known = asked.first(where: { isSameText($0.name, name) }) { return known.value }
        var type = type
        var isOptional = optionals.contains(name)
        if let optional = type as? any OptionalType.Type {
            type = optional.wrappedType
            isOptional = true
        }
        let value = ExampleValue()
        asked.append((name, type, isOptional, value))
        return value
    }

    func noteOptional(_ name: String) { optionals.insert(name) }

    var fields: [RequestDescription.Field] {
        asked.map { name, type, isOptional, value in
            let isList = type is any ListType.Type || value.isList
            return RequestDescription.Field(
                name: name, type: "\(type)", expectation: expectation(of: type, value),
                values: ParameterText.values(of: type), isOptional: isOptional, isList: isList,
                example: value.text)
        }
    }

    /// Returns the expected value: from the type itself, or else from the examples.
    private func expectation(of type: Any.Type, _ value: ExampleValue) -> String {
        if let list = type as? any ListType.Type {
            return "values, each \(expectation(of: list.elementType, value.element ?? value))"
        }
        return ParameterText.known(type) ?? value.expectation ?? ParameterText.expectation(of: type)
    }
}

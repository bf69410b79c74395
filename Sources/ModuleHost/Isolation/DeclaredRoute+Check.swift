extension DeclaredRoute {
    /// Checks whether parameters are valid for the route, as far as its description allows.
    func check(_ parameters: RouteParameters) throws(ParameterError) {
        for parameter in self.parameters ?? [] { try parameter.check(parameters) }
    }

    /// Returns whether a parameter takes several values.
    func isList(_ name: String) -> Bool {
        parameters?.contains { $0.list == true && isSameText($0.name, name) } ?? false
    }

    /// The description of the request, as for routes of the host's own process.
    var request: RequestDescription {
        RequestDescription(fields: (parameters ?? []).map(\.field))
    }
}

extension DeclaredRoute.Parameter {
    private enum Kind: String {
        case int = "Int"
        case double = "Double"
        case bool = "Bool"
    }

    private var kind: Kind? { type.flatMap(Kind.init) }

    private var expectation: String {
        list == true && expects == nil ? "values, each \(oneExpectation)" : oneExpectation
    }

    /// The expectation of one value.
    private var oneExpectation: String {
        if let expects { return expects }
        if let values, !values.isEmpty {
            return "one of " + values.map { "'\($0)'" }.joined(separator: ", ")
        }
        return switch kind {
        case .int: "a whole number"
        case .double: "a number"
        case .bool: "true, false, 1 or 0"
        case nil: "text"
        }
    }

    fileprivate func check(_ parameters: RouteParameters) throws(ParameterError) {
        let given = parameters.values(of: name)
        if given == nil, !(required ?? true) { return }
        guard let given, list == true || !given.isEmpty else {
            throw ParameterError(name: name, kind: .missing(expected: expectation))
        }
        if list != true, given.count > 1 {
            throw ParameterError(name: name, kind: .repeated(given.count))
        }
        for value in given {
            if let error = error(of: value) { throw ParameterError(name: name, kind: error) }
        }
    }

    private func error(of value: String) -> ParameterError.Kind? {
        let mismatch = ParameterError.Kind.mismatch(value: value, expected: oneExpectation)
        if let values, !values.isEmpty {
            return values.contains { isSameText($0, value) } ? nil : mismatch
        }
        let (isWellFormed, fits) =
            switch kind {
            case .int: (ParameterText.isWhole(value), Int(value) != nil)
            case .double: (ParameterText.isDecimal(value), Double(value)?.isFinite == true)
            case .bool: (ParameterText.bool(value) != nil, true)
            case nil: (true, true)
            }
        guard isWellFormed else { return mismatch }
        return fits ? nil : .outOfRange(value: value, type: type ?? "String")
    }

    fileprivate var field: RequestDescription.Field {
        RequestDescription.Field(
            name: name, type: type ?? "String", expectation: expectation, values: values ?? [],
            isOptional: !(required ?? true), isList: list ?? false,
            example: values?.first ?? (kind == nil ? "text" : "1"))
    }
}

extension AnyRoute {
    /// Creates a route of a module in a process of its own.
    ///
    /// - Parameters:
    ///   - perform: Makes the call, and waits for its answer.
    ///   - begin: Makes the call, and does not wait.
    /// - Throws: ``RouteError`` for a malformed pattern.
    convenience init(
        _ declared: DeclaredRoute, perform: @escaping ErasedHandler.Perform,
        beginning begin: @escaping ErasedHandler.Later.Begin
    ) throws(RouteError) {
        let begin: ErasedHandler.Later.Begin = { module, parameters, call, late in
            try declared.check(parameters)
            try begin(module, parameters, call, late)
        }
        let later = ErasedHandler.Later(
            deadline: declared.deadlineMs.map { .milliseconds($0) }, begin: begin)
        let handler = ErasedHandler(
            check: { parameters throws(ParameterError) in try declared.check(parameters) },
            describe: { _ in declared.request }, replyType: declared.reply,
            later: declared.later == true ? later : nil,
            elsewhere: declared.later == true ? nil : begin,
            perform: { module, parameters, call in
                try declared.check(parameters)
                if declared.later == true { throw AnswersLater() }
                return try perform(module, parameters, call)
            })
        try self.init(
            declared.pattern, action: declared.name, access: declared.access ?? .local,
            summary: declared.summary ?? "", handler)
    }
}

extension JSONError {
    /// Returns the error with its places in a value that is a part of a larger text, such as a request, which a reader
    /// of the error does not see.
    ///
    /// - Parameters:
    ///   - value: The value that was given as a text of its own.
    ///   - pointer: The place that the value itself gets.
    /// - Returns: The error as it is, if it concerns another text.
    func placed(in value: JSONValue, at pointer: String = "") -> JSONError {
        let (base, range) = (value.pointer, value.range)
        guard base != pointer,
            diagnostics.allSatisfy({
                ($0.pointer == base || $0.pointer.hasPrefix(base + "/"))
                    && range.lowerBound <= $0.offset && $0.offset <= range.upperBound
            })
        else { return self }
        var source = SourceText(Array(value.textBytes))
        return JSONError(
            diagnostics: diagnostics.map { diagnostic in
                let offset = diagnostic.offset - range.lowerBound
                return JSONDiagnostic(
                    kind: diagnostic.kind,
                    pointer: pointer + diagnostic.pointer.dropFirst(base.count),
                    place: source.place(of: offset), offset: offset)
            })
    }
}

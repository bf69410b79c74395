extension RPCFrame {
    /// Reads a line of a program that writes its messages with ``JSONWriter``, as a rule; any other one, too.
    init(fromModuleHost line: [UInt8]) { self = RPCFrame(asWritten: line) ?? RPCFrame(line) }

    /// Reads a request or a response with a number as its id, in the form that ``JSONWriter`` gives it: only
    /// the parameters or the result become a JSON document.
    ///
    /// nil for a line of any other form, even where it is valid.
    init?(asWritten line: [UInt8]) {
        var reader = WrittenFrameReader(line: line)
        guard reader.skip(RPCMessage.beginning), reader.skip(#","id":"#),
            let number = reader.number()
        else { return nil }
        let id = RPCID(number)
        if reader.skip(#","result":"#) {
            guard let result = reader.lastValue() else { return nil }
            self = .single(.response(RPCResponse(id: id, result: .success(result))))
        } else {
            guard reader.skip(#","method":""#), let method = reader.word(),
                reader.skip(#"","params":"#), let parameters = reader.lastValue(),
                parameters.kind == .object
            else { return nil }
            self = .single(
                .request(RPCRequest(method: method, parameters: parameters), id: id))
        }
    }
}

private struct WrittenFrameReader {
    let line: [UInt8]
    private var at = 0

    init(line: [UInt8]) { self.line = line }

    /// Skips `text`, where the line goes on with it.
    mutating func skip(_ text: StaticString) -> Bool {
        guard text.withUTF8Buffer({ line.has($0, at: at) }) else { return false }
        at += text.utf8CodeUnitCount
        return true
    }

    /// Reads a number without a sign or needless zeros, of at most 18 digits.
    mutating func number() -> Int? {
        let start = at
        var number = 0
        while at < line.count, case let digit = line[at] &- UInt8(ascii: "0"), digit < 10 {
            guard at - start < 18, at == start || number > 0 else { return nil }
            number = number * 10 + Int(digit)
            at += 1
        }
        return at > start ? number : nil
    }

    /// Reads lower-case letters.
    mutating func word() -> String? {
        let start = at
        while at < line.count, UInt8(ascii: "a")...UInt8(ascii: "z") ~= line[at] { at += 1 }
        return at > start ? String(decoding: line[start..<at], as: UTF8.self) : nil
    }

    /// Reads the value that ends before the last byte of the line, a closing brace.
    func lastValue() -> JSONValue? {
        guard at < line.count, line.last == UInt8(ascii: "}") else { return nil }
        return try? JSONValue(parsing: Array(line[at..<line.count - 1]))
    }
}

import FuzzDriver

@testable import ModuleHostCore

@main
enum ControlFuzz {
    static func main() { runFuzzer(fuzz) }
}

/// Hands the input to a session as a client would send it, at once and in pieces, and checks what comes
/// back.
///
/// The first byte says how long the pieces are.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let input = bytes.dropFirst()
    let whole = answers(to: input, inPiecesOf: max(1, input.count))
    let pieces = answers(to: input, inPiecesOf: 1 + Int(first))
    guard whole == pieces else { fatalError("the pieces make a difference") }
    for line in whole { check(line) }
    return 0
}

/// The lines that a session answers with, sorted: calls are answered behind errors or before them,
/// depending on what came together.
private func answers(to input: ArraySlice<UInt8>, inPiecesOf size: Int) -> [String] {
    var session = RPCSession(limits: .init(line: 1024, calls: 8, outputMark: 512))
    var output: [UInt8] = []
    func work() {
        var goesOn = true
        while goesOn {
            var taken: [(RPCRequest, RPCSession.Ticket)] = []
            goesOn = session.takeLines(upTo: 3) { taken.append(($0, $1)) }
            goesOn = goesOn || !taken.isEmpty || !session.output.isEmpty
            for (request, ticket) in taken { session.answer(ticket, with: answer(request, ticket)) }
            output += session.output.rest
            session.sent(session.output.count)
        }
    }
    var rest = input
    while !rest.isEmpty {
        guard session.wantsInput || session.isInputDone else { fatalError("it is stuck") }
        session.receive(rest.prefix(size))
        rest = rest.dropFirst(size)
        work()
    }
    session.endInput()
    work()
    guard session.isOver, session.openCalls == 0 else { fatalError("something is left") }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
}

private func answer(_ request: RPCRequest, _ ticket: RPCSession.Ticket) -> [UInt8] {
    guard let id = ticket.id else { return [] }
    var json = JSONWriter()
    if let parameters = request.parameters {
        json.rpcResult(id: id) { $0.raw(parameters.text.utf8) }
    } else {
        json.rpcError(RPCError(.methodNotFound, request.method, detail: request.method), id: id)
    }
    return json.bytes
}

/// Traps unless the line is a response, or a batch of some.
private func check(_ line: String) {
    switch RPCFrame(Array(line.utf8)) {
    case .single(.response): break
    case .batch(let messages):
        for message in messages {
            guard case .response = message else { fatalError("no response: \(line)") }
        }
    case .single: fatalError("no response: \(line)")
    }
}

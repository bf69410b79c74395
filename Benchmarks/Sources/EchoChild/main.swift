import Foundation

// What a Swift program needs at the least to answer requests in JSON: it reads a line, decodes it, and
// writes one back. `Isolated` measures it beside modules of a host.

struct Request: Decodable {
    struct Parameters: Decodable {
        struct Words: Codable { let text: String }
        let action: String
        let parameters: Words
        let origin: String
    }
    let jsonrpc: String
    let id: Int
    let method: String
    let params: Parameters
}

struct Answer: Encodable {
    var jsonrpc = "2.0"
    let id: Int
    let result: Request.Parameters.Words
}

let newline = UInt8(ascii: "\n")
let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
var chunk = [UInt8](repeating: 0, count: 1 << 16)
var rest: [UInt8] = []
while true {
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    guard count > 0 else { break }
    rest += chunk[..<count]
    while let end = rest.firstIndex(of: newline) {
        let request = try decoder.decode(Request.self, from: Data(rest[..<end]))
        rest.removeFirst(end + 1)
        var line = [UInt8](
            try encoder.encode(Answer(id: request.id, result: request.params.parameters)))
        line.append(newline)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
    }
}

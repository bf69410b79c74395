/// A command, in the form in which Redis reads it.
struct RedisCommand {
    /// The words, the first of which is the name of the command.
    let words: [[UInt8]]

    init(_ words: [[UInt8]]) { self.words = words }

    init(_ words: String...) { self.init(words.map { Array($0.utf8) }) }

    /// The name, for messages: the other words may be secret.
    var name: String { String(decoding: words.first ?? [], as: UTF8.self) }

    /// Appends the bytes to those of other commands.
    func append(to bytes: inout [UInt8]) {
        bytes += "*\(words.count)\r\n".utf8
        for word in words {
            bytes += "$\(word.count)\r\n".utf8
            bytes += word
            bytes += "\r\n".utf8
        }
    }
}

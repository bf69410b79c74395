/// Returns the text in lines of at most `width` characters, but for longer words.
///
/// - Parameters:
///   - text: The text.
///   - width: The length of a line.
///   - others: That of all lines but the first; nil for the same.
/// - Returns: The lines.
package func filled(_ text: String, to width: Int, others: Int? = nil) -> [String] {
    // Several spaces in a row, as in a path, would become one.
    guard text.count > width else { return [text] }
    var lines = [""]
    for word in text.split(separator: " ") {
        let end = lines.count - 1
        if lines[end].isEmpty {
            lines[end] = String(word)
        } else if lines[end].count + 1 + word.count <= (end == 0 ? width : others ?? width) {
            lines[end] += " \(word)"
        } else {
            lines.append(String(word))
        }
    }
    return lines
}

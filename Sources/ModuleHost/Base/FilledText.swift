/// Returns the text in lines of at most `width` characters, but for longer words.
package func filled(_ text: String, to width: Int) -> [String] {
    // Several spaces in a row, as in a path, would become one.
    guard text.count > width else { return [text] }
    var lines = [""]
    for word in text.split(separator: " ") {
        let end = lines.count - 1
        if lines[end].isEmpty {
            lines[end] = String(word)
        } else if lines[end].count + 1 + word.count <= width {
            lines[end] += " \(word)"
        } else {
            lines.append(String(word))
        }
    }
    return lines
}

import ModuleHost

/// Rows as lines whose columns stand under each other.
func textTable(_ rows: [[String]]) -> String {
    var widths: [Int] = []
    for row in rows {
        for (column, text) in row.enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], text.count)
        }
    }
    return rows.map { row in
        var line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }.joined()
}

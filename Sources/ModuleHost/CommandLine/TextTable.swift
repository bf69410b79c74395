/// Returns rows as lines with aligned columns; their content is escaped.
func textTable(_ rows: [[String]]) -> TerminalText {
    let rows = rows.map { $0.map(TerminalText.init(escaping:)) }
    var widths: [Int] = []
    for row in rows {
        for (column, text) in row.enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], text.count)
        }
    }
    return rows.map { row in
        // No spaces at the end of a line.
        let end = row.lastIndex { $0.count > 0 } ?? 0
        let slots = zip(row, widths).enumerated().map { column, slot in
            column < end ? slot.0.padded(to: slot.1) : slot.0
        }
        return slots[...end].joined(separator: "  ") + "\n"
    }.joined()
}

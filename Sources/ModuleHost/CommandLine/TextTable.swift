/// Returns rows as lines with aligned columns; their content is escaped.
func textTable(_ rows: [[String]]) -> TerminalText { tableLines(rows).joined() }

/// Returns rows as lines of at most 80 characters, if their first columns leave room for it, with notes below them.
///
/// - Parameters:
///   - rows: The rows, the heading first. Columns that do not fit become notes, the last one first.
///   - notes: The notes of each row but the heading, in lines that fit.
///   - kept: The number of columns that stay.
func textTable(
    _ rows: [[String]], notes: [[String]] = [], keeping kept: Int
) -> TerminalText {
    var rows = rows
    var notes = notes.isEmpty ? Array(repeating: [], count: rows.count) : [[]] + notes
    var lines = tableLines(rows)
    while let width = lines.map(\.count).max(), width > helpWidth + 1,
        let columns = rows.map(\.count).max(), columns > kept
    {
        for index in rows.indices where rows[index].count == columns {
            let cell = rows[index].removeLast()
            if index > 0, !cell.isEmpty { notes[index].insert(cell, at: 0) }
        }
        lines = tableLines(rows)
    }
    let margin = "    "
    return zip(lines, notes).map { line, notes -> TerminalText in
        let below = notes.flatMap { filled($0, to: helpWidth - margin.count) }
        return line + below.map { "\(margin)\($0)\n" as TerminalText }.joined()
    }.joined()
}

private func tableLines(_ rows: [[String]]) -> [TerminalText] {
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
    }
}

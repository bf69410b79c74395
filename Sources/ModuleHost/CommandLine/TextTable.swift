import AppService

/// Returns how long ago a time is, such as `0s`, `45s` or `3h05m`.
func ageText(seconds: Int) -> String {
    seconds > 0 ? Duration.seconds(seconds).briefText : "0s"
}

/// Returns rows as lines with aligned columns, of at most 80 characters if the first columns leave room for it; their
/// content is escaped.
///
/// - Parameters:
///   - rows: The rows, the heading first. Columns that do not fit become notes, the last one first.
///   - notes: The notes of each row but the heading, in lines that fit.
///   - kept: The number of columns that stay; by default all, whatever their width.
func textTable(
    _ rows: [[String]], notes: [[String]] = [], keeping kept: Int = .max
) -> TerminalText {
    var rows = rows
    var notes = notes.isEmpty ? Array(repeating: [], count: rows.count) : [[]] + notes
    var lines = tableLines(rows)
    while let width = lines.map(\.count).max(), width > helpWidth + 1,
        let columns = rows.map(\.count).max(), columns > kept
    {
        let title = rows[0].count == columns ? rows[0].last ?? "" : ""
        for index in rows.indices where rows[index].count == columns {
            let cell = rows[index].removeLast()
            guard index > 0, !cell.isEmpty else { continue }
            notes[index].insert(title.isEmpty ? cell : "\(title): \(cell)", at: 0)
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

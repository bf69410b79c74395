import AppService

/// The picture as SVG: the label of each row is above its bars, so that it is readable on a narrow screen.
extension TimePicture {
    private enum Size {
        static let width = 440
        static let margin = 10
        static let head = 56
        static let row = 30
        static let bar = 11
        /// The height of a line of marks below the rows, and the most lines.
        static let line = 12
        static let lines = 4
        /// The number of letters in a line, about.
        static let letters = 64
        static var plot: Int { width - 2 * margin }
    }

    /// The classes of bars: each kind has a color of the palette by Okabe and Ito, which differ in lightness, too.
    private static let kinds = [
        "module", "process", "program", "task", "launch", "root", "event", "unresponsive", "failed",
    ]

    var svg: String {
        let (end, marks) = (end, placedMarks)
        let lines = (marks.compactMap(\.line).max() ?? 0) + 1
        let height = Size.head + rows.count * Size.row + lines * Size.line
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Size.width) \(height)" width="100%" \
            style="max-width: 880px" role="img">
            <title>\(htmlText(title))</title>
            <style>
            text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: #1c1c1e; paint-order: stroke; \
            stroke: #fff; stroke-width: 2.5px }
            .h { font-weight: bold; font-size: 13px } .s { fill: #5a5a60 }
            .t { stroke: #d8d8dc } .m { stroke: #1c1c1e; stroke-dasharray: 3 2 } .back { fill: #fff }
            .bar { fill: #999 } .module { fill: #56b4e9 } .process { fill: #0072b2 }
            .program { fill: #cc79a7 } .task { fill: #e69f00 } .launch { fill: #009e73 }
            .root { fill: #f0e442 } .event { fill: #8c8c94 } .unresponsive { fill: #8b4a00 }
            .failed { fill: #d55e00 } .waits { fill: none; stroke: #8a8a90; stroke-dasharray: 2 2 }
            .critical { stroke: #1c1c1e; stroke-width: 2 } .bad { fill: #b3261e }
            @media (prefers-color-scheme: dark) {
            text { fill: #f2f2f4; stroke: #1c1c1e } .s { fill: #b0b0b6 } .back { fill: #1c1c1e } .t { stroke: #48484c }
            .m, .critical { stroke: #f2f2f4 } .bad { fill: #ff9088 }
            }
            </style>
            <rect class="back" width="\(Size.width)" height="\(height)"/>
            <text class="h" x="\(Size.margin)" y="18">\(htmlText(title)): \(end.briefText)</text>

            """
        func x(_ time: Duration) -> Double {
            let part = min(max(time / end, 0), 1)
            return (Double(Size.margin) + part * Double(Size.plot)).roundedToTenths
        }
        svg += key + scale(to: height, x)
        for mark in marks { svg += draw(mark, to: height, lines, x) }
        for (index, row) in rows.enumerated() {
            svg += draw(row, at: Size.head + index * Size.row, until: end, x)
        }
        return svg + "</svg>\n"
    }

    /// The names of the kinds in the picture, with their colors; a thick outline marks what READY waited for.
    private var key: String {
        var x = Size.margin
        var text = ""
        func add(_ name: String, _ style: String) {
            text += """
                <rect class="\(style)" x="\(x)" y="27" width="10" height="8"/>\
                <text class="s" x="\(x + 14)" y="35">\(htmlText(name))</text>

                """
            x += 26 + 6 * name.count
        }
        let used = Set(rows.map(\.kind))
        for kind in Self.kinds where used.contains(kind) { add(kind, "bar \(kind)") }
        if spans.contains(where: \.isCritical) { add("READY waits", "back critical") }
        return text
    }

    private func scale(to height: Int, _ x: (Duration) -> Double) -> String {
        (0...4).map { part in
            let time = end * part / 4
            let anchor = part == 0 ? "start" : part == 4 ? "end" : "middle"
            return """
                <path class="t" d="M\(x(time)) \(Size.head - 4)V\(height - 8)"/>\
                <text class="s" x="\(x(time))" y="\(Size.head - 7)" text-anchor="\(anchor)">\
                \(time.briefText)</text>

                """
        }.joined()
    }

    private func draw(
        _ row: Row, at y: Int, until end: Duration, _ x: (Duration) -> Double
    ) -> String {
        let time = row.time?.briefText ?? "not over"
        let count = row.spans.count > 1 ? "\(row.spans.count) times, " : ""
        let label = row.label.cut(to: 50)
        let room = max(12, Size.letters - label.count - time.count - count.count)
        let problem = row.problem.map {
            "<tspan class=\"bad\"> ▲ \(htmlText(excerpt($0, limit: room)))</tspan>"
        }
        var text = """
            <text x="\(Size.margin + 2)" y="\(y + 11)">\(htmlText(label))<tspan class="s"> \
            \(count)\(time)</tspan>\(problem ?? "")</text>

            """
        let kind = Self.kinds.contains(row.kind) ? " \(row.kind)" : ""
        for span in row.spans {
            let (start, end) = (x(span.start), x(span.end ?? end))
            if span.waits < span.start {
                let waits = x(span.waits)
                text += """
                    <rect class="waits" x="\(waits)" y="\(y + 15)" \
                    width="\((start - waits).roundedToTenths)" height="\(Size.bar)"/>

                    """
            }
            text += """
                <rect class="bar\(kind)\(span.isCritical ? " critical" : "")" x="\(start)" y="\(y + 15)" \
                width="\(max(1.5, (end - start).roundedToTenths))" height="\(Size.bar)" rx="1.5"/>

                """
        }
        return text
    }

    private func draw(
        _ placed: PlacedMark, to height: Int, _ lines: Int, _ x: (Duration) -> Double
    ) -> String {
        let mark = placed.mark
        var text = """
            <path class="m" d="M\(x(mark.time)) \(Size.head - 2)V\(height - lines * Size.line + 8)"/>

            """
        guard let line = placed.line else { return text }
        let y = height - (lines - 1 - line) * Size.line - 3
        text += """
            <text class="s" x="\(x(mark.time) + (placed.isRight ? -3 : 3))" y="\(y)" \
            text-anchor="\(placed.isRight ? "end" : "start")">\(htmlText(placed.label))</text>

            """
        return text
    }

    /// A mark with the line of its label, which overlaps no other one; nil where there is no room.
    private struct PlacedMark {
        let mark: Mark
        let label: String
        /// Whether the label is left of the mark.
        let isRight: Bool
        let line: Int?
    }

    private var placedMarks: [PlacedMark] {
        // The places that are taken, for each line.
        var taken = [[ClosedRange<Double>]](repeating: [], count: Size.lines)
        return marks.map { mark in
            let label = "\(mark.name) \(mark.time.briefText)"
            let isRight = mark.time > end / 2
            let width = Double(6 * label.count + 8)
            let x = min(max(mark.time / end, 0), 1) * Double(Size.plot)
            let place = isRight ? x - width...x : x...x + width
            let line = taken.firstIndex { !$0.contains { $0.overlaps(place) } }
            if let line { taken[line].append(place) }
            return PlacedMark(mark: mark, label: label, isRight: isRight, line: line)
        }
    }
}

extension Double {
    fileprivate var roundedToTenths: Double { (self * 10).rounded() / 10 }
}

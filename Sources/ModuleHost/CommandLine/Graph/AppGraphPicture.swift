/// The picture of an app: a box for each module, in the order of the slatefile, and lines beside the boxes.
///
/// Lines of one kind that lead to one module, or to one of its services, share a vertical track, with a dot where one
/// begins or joins the track, and an arrow where they end. So lines cross, but none lies on another of a different
/// meaning, and no name is covered.
struct AppGraphPicture {
    private typealias Row = AppGraph.Module.Row
    private typealias RowKind = AppGraph.Module.RowKind

    /// A box with its place.
    private struct Box {
        let module: AppGraph.Module
        let rows: [Row]
        let top: Int
        var bottom: Int {
            top + Size.header + rows.count * Size.row + (rows.isEmpty ? 0 : Size.inset)
        }

        func middle(ofRow index: Int) -> Int { top + Size.header + index * Size.row + Size.row / 2 }
    }

    /// The lines that lead to one place.
    private struct Bus {
        let kind: RowKind
        let end: Int
        var starts: [Int]
        var track = 0

        var top: Int { min(end, starts.min() ?? end) }
        var bottom: Int { max(end, starts.max() ?? end) }
    }

    /// The measures, in units of the picture.
    private enum Size {
        static let margin = 24
        static let title = 64
        static let header = 46
        static let row = 20
        static let inset = 8
        static let gap = 22
        static let track = 16
        /// The width of a character of the fixed-width font, of which each row has two columns.
        static let character = 8
        static let label = 84
    }

    /// The largest number of characters of a name that is shown.
    private static let nameLength = 64

    private let graph: AppGraph
    private let boxes: [Box]
    private let width: Int
    private var buses: [Bus] = []
    private var tracks = 0

    init(_ graph: AppGraph) {
        self.graph = graph
        var boxes: [Box] = []
        var top = Size.title
        var columns = 24
        for module in graph.modules {
            let box = Box(module: module, rows: module.rows, top: top)
            top = box.bottom + Size.gap
            boxes.append(box)
            columns = max(columns, Self.name(Self.heading(of: module)).count)
            for row in box.rows {
                columns = max(columns, Self.name(row.text).count + Size.label / Size.character)
            }
        }
        self.boxes = boxes
        width = columns * Size.character + 2 * Size.inset + Size.inset
        buses = Self.buses(boxes)
        tracks = Self.assignTracks(&buses)
    }

    private static func name(_ text: String) -> String { excerpt(text, limit: nameLength) }

    private static func heading(of module: AppGraph.Module) -> String {
        module.summary.joined(separator: " · ")
    }

    // MARK: Lines

    private static func buses(_ boxes: [Box]) -> [Bus] {
        let places = Dictionary(
            boxes.enumerated().map { ($1.module.id, $0) }, uniquingKeysWith: { first, _ in first })
        var buses: [Bus] = []
        var known: [[Int]: Int] = [:]
        for box in boxes {
            for (index, row) in box.rows.enumerated() {
                guard let place = row.target.flatMap({ places[$0] }) else { continue }
                let target = boxes[place]
                let end: Int
                switch row.kind {
                case .needs: end = target.top + 16
                case .uses:
                    let provided = target.rows.firstIndex {
                        $0.kind == .provides && $0.name == row.name
                    }
                    end = provided.map(target.middle) ?? target.top + 16
                case .calls: end = target.top + 34
                case .provides, .topics, .posts: continue
                }
                let key = [RowKind.allCases.firstIndex(of: row.kind) ?? 0, end]
                if let bus = known[key] {
                    buses[bus].starts.append(box.middle(ofRow: index))
                } else {
                    known[key] = buses.count
                    buses.append(Bus(kind: row.kind, end: end, starts: [box.middle(ofRow: index)]))
                }
            }
        }
        return buses
    }

    /// Gives each bus a track on which no other is at the same height.
    private static func assignTracks(_ buses: inout [Bus]) -> Int {
        let begins = buses.indices.sortedByNumber({ buses[$0].top })
        let ends = buses.indices.sortedByNumber({ buses[$0].bottom })
        var ended = ends.startIndex
        var free: [Int] = []
        var count = 0
        for bus in begins {
            while ended < ends.endIndex, buses[ends[ended]].bottom < buses[bus].top {
                free.append(buses[ends[ended]].track)
                ended += 1
            }
            if let track = free.popLast() {
                buses[bus].track = track
            } else {
                buses[bus].track = count
                count += 1
            }
        }
        return count
    }

    // MARK: Drawing

    var svg: String {
        let height = (boxes.last?.bottom ?? Size.title) + Size.margin
        let total = max(Size.margin * 2 + width + (tracks + 2) * Size.track, 560)
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(total)" height="\(height)" \
            viewBox="0 0 \(total) \(height)" role="img">
            <title>\(htmlText(graph.app)): \(graph.count)</title>
            <style>
            text { font: 13px "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #1c1c1e }
            .h { font-weight: bold } .s { fill: #6a6a70; font-size: 12px }
            .box { fill: #fff; stroke: #8a8a90 } .main { stroke-width: 2.5; stroke: #1c1c1e }
            .needs { fill: #b3261e } .uses, .provides { fill: #1a56b0 }
            .calls { fill: #1b7f3b } .topics, .posts { fill: #7b3fa0 }
            path.needs, path.uses, path.calls { fill: none; stroke-width: 1.6 }
            path.needs { stroke: #b3261e }
            path.uses { stroke: #1a56b0; stroke-dasharray: 7 3 }
            path.calls { stroke: #1b7f3b; stroke-dasharray: 2 3 } .back { fill: #fafafa }
            @media (prefers-color-scheme: dark) {
            text { fill: #f2f2f4 } .s { fill: #b0b0b6 } .back { fill: #111113 }
            .box { fill: #1c1c1e; stroke: #6a6a70 } .main { stroke: #f2f2f4 }
            .needs { fill: #ff8a80 } .uses, .provides { fill: #8ab4f8 }
            .calls { fill: #81c995 } .topics, .posts { fill: #cf9fe8 }
            path.needs { stroke: #ff8a80 } path.uses { stroke: #8ab4f8 } path.calls { stroke: #81c995 }
            }
            </style>
            <rect class="back" width="\(total)" height="\(height)"/>
            <text class="h" x="\(Size.margin)" y="30">\(htmlText(Self.name(graph.app))): \(graph.count)</text>
            \(legend)

            """
        for box in boxes { draw(box, &svg) }
        for bus in buses { draw(bus, &svg) }
        return svg + "</svg>\n"
    }

    private var legend: String {
        let kinds: [(RowKind, String)] = [
            (.needs, "needs"), (.uses, "uses the service of"), (.calls, "calls a route of"),
        ]
        var x = Size.margin
        return kinds.map { kind, text in
            defer { x += 40 + text.count * Size.character + 16 }
            return """
                <path class="\(kind.rawValue)" d="M\(x) 47H\(x + 30)"/>\
                <text class="s" x="\(x + 38)" y="51">\(text)</text>
                """
        }.joined(separator: "\n")
    }

    private func draw(_ box: Box, _ svg: inout String) {
        let x = Size.margin + Size.inset + 2
        let name = box.module.isMain ? "box main" : "box"
        svg += """
            <rect class="\(name)" x="\(Size.margin)" y="\(box.top)" width="\(width)" \
            height="\(box.bottom - box.top)" rx="5"/>
            <text class="h" x="\(x)" y="\(box.top + 20)">\(htmlText(Self.name(box.module.id.text)))</text>
            <text class="s" x="\(x)" y="\(box.top + 38)">\
            \(htmlText(Self.name(Self.heading(of: box.module))))</text>

            """
        for (index, row) in box.rows.enumerated() {
            let y = box.middle(ofRow: index) + 4
            svg += """
                <text class="\(row.kind.rawValue)" x="\(x)" y="\(y)">\(row.label)</text>\
                <text x="\(x + Size.label)" y="\(y)">\(htmlText(Self.name(row.text)))</text>

                """
        }
    }

    private func draw(_ bus: Bus, _ svg: inout String) {
        let edge = Size.margin + width
        let x = edge + Size.track * (bus.track + 2)
        let kind = bus.kind.rawValue
        for y in bus.starts {
            svg += """
                <circle class="\(kind)" cx="\(edge)" cy="\(y)" r="3"/>\
                <path class="\(kind)" d="M\(edge) \(y)H\(x)"/>\
                <circle class="\(kind)" cx="\(x)" cy="\(y)" r="2"/>

                """
        }
        svg += """
            <path class="\(kind)" d="M\(x) \(bus.top)V\(bus.bottom)M\(x) \(bus.end)H\(edge + 8)"/>\
            <polygon class="\(kind)" points="\(edge + 1),\(bus.end) \(edge + 10),\(bus.end - 5) \
            \(edge + 10),\(bus.end + 5)"/>

            """
    }
}

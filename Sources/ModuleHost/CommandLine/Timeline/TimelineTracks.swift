import AppService

/// The entries of a record as spans of time, for pictures and traces.
struct TimelineTracks {
    /// A thing to which entries belong.
    struct Track {
        let name: String
        let kind: String
        var spans: [Span] = []
    }

    struct Span {
        var start: Duration
        /// Nil while it is not over.
        var end: Duration?
        var text: String
        var isProblem = false
    }

    struct Instant {
        var time: Duration
        var text: String
        /// The module; nil for the host.
        var module: String?
        /// The word for the kind of entry.
        var what: String
    }

    /// The tracks in the order in which they begin.
    private(set) var tracks: [Track] = []
    private(set) var instants: [Instant] = []
    /// The time of the last entry.
    private(set) var end: Duration = .zero
    private var places: [String: Int] = [:]
    /// The time at which the current host began.
    private var hostStart: Duration?

    /// - Parameter entries: The entries, as a host reports them.
    init(_ entries: some Sequence<JSONValue>) {
        for entry in entries { take(entry) }
    }

    private mutating func take(_ entry: JSONValue) {
        let time = max(entry["atMs"]?.milliseconds ?? .zero, .zero)
        let (what, text) = (entry["what"]?.string ?? "", entry["text"]?.string ?? "")
        let module = entry["module"]?.string
        let taken = entry["ms"]?.milliseconds ?? .zero
        end = max(end, time)
        switch what {
        case "delivered":
            let names = [entry["event"]?.string, entry["topic"]?.string].compactMap(\.self)
            let isProblem = entry["failed"]?.int != 0 || entry["unresponsive"]?.int != 0
            add(
                names.joined(separator: " "), "event",
                Span(start: time - taken, end: time, text: text, isProblem: isProblem))
        case "took":
            add(module ?? "", "module", Span(start: time - taken, end: time, text: text))
        case "start-up-task":
            let outcome = entry["outcome"]?.string
            add(
                entry["task"]?.string ?? "task", "task",
                Span(
                    start: time - taken, end: time, text: text,
                    isProblem: outcome.map { $0 != "succeeded" } ?? false))
        case "started":
            // A host that was killed has not noted the ends.
            for place in tracks.indices { close(place, at: time) }
            instants.append(Instant(time: time, text: text, module: nil, what: what))
            hostStart = time
        case "ready":
            let start = hostStart.map { max($0, time - taken) } ?? time - taken
            add("start", "launch", Span(start: start, end: time, text: text))
            instants.append(Instant(time: time, text: "READY", module: nil, what: what))
        default:
            if let module { change(module, what, text, at: time) }
            instants.append(Instant(time: time, text: text, module: module, what: what))
        }
    }

    /// Begins and ends the states of a module.
    private mutating func change(
        _ module: String, _ what: String, _ text: String, at time: Duration
    ) {
        func key(_ kind: String) -> String { "\(module) \(kind)" }
        switch what {
        case "unresponsive", "failed":
            open(key(what), what, text, at: time)
        case "process-started": open(key("process"), "process", text, at: time)
        case "process-ended": places[key("process")].map { close($0, at: time) }
        case "responsive": places[key("unresponsive")].map { close($0, at: time) }
        case "created", "launched": places[key("failed")].map { close($0, at: time) }
        case "done", "unloaded":
            for kind in ["failed", "unresponsive", "process"] {
                places[key(kind)].map { close($0, at: time) }
            }
        default: break
        }
    }

    private mutating func open(_ name: String, _ kind: String, _ text: String, at time: Duration) {
        if let place = places[name] { close(place, at: time) }
        add(name, kind, Span(start: time, text: text, isProblem: kind != "process"))
    }

    private mutating func close(_ place: Int, at time: Duration) {
        guard let last = tracks[place].spans.indices.last, tracks[place].spans[last].end == nil
        else { return }
        tracks[place].spans[last].end = max(time, tracks[place].spans[last].start)
    }

    private mutating func add(_ name: String, _ kind: String, _ span: Span) {
        var span = span
        span.start = max(span.start, .zero)
        // The clock may have been set back.
        span.end = span.end.map { max($0, span.start) }
        let place = places[name] ?? tracks.count
        if place == tracks.count {
            tracks.append(Track(name: name, kind: kind))
            places[name] = place
        }
        tracks[place].spans.append(span)
    }
}

extension TimelineTracks {
    /// The picture of the tracks; entries without a duration are left out, but for those of the host.
    func picture(titled title: String) -> TimePicture {
        TimePicture(
            title: title,
            rows: tracks.map { track in
                TimePicture.Row(
                    label: track.name, kind: track.kind,
                    spans: track.spans.map { span in
                        TimePicture.Span(
                            waits: span.start, start: span.start, end: span.end,
                            problem: span.isProblem ? span.text : nil)
                    })
            },
            marks: instants.filter { $0.module == nil && Self.marked.contains($0.what) }.map {
                TimePicture.Mark(time: $0.time, name: $0.what == "ready" ? "READY" : $0.what)
            })
    }

    private static let marked = ["started", "ready", "reload", "stopping"]
}

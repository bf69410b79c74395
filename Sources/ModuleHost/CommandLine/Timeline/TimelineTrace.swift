import AppService

/// A timeline in the trace format of Chrome, which Perfetto and `chrome://tracing` open.
struct TimelineTrace {
    /// The number of the one process, which stands for all hosts of the record.
    private static let process = 1

    let tracks: TimelineTracks
    let title: String

    /// The trace as JSON.
    var json: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("displayTimeUnit", "ms")
            $0.member("traceEvents") { json in
                json.array { events in
                    Self.writeName("process_name", title, thread: 0, to: &events)
                    var thread = 0
                    for track in tracks.tracks {
                        for row in Self.rows(of: track.spans) {
                            thread += 1
                            Self.writeName("thread_name", track.name, thread: thread, to: &events)
                            for span in row { write(span, of: track, thread, to: &events) }
                        }
                    }
                    let modules = Dictionary(grouping: tracks.instants) { $0.module ?? "host" }
                    for (name, instants) in modules.sorted(by: { $0.key < $1.key }) {
                        thread += 1
                        Self.writeName("thread_name", name, thread: thread, to: &events)
                        for instant in instants { write(instant, thread, to: &events) }
                    }
                }
            }
        }
        json.newline()
        return json.bytes
    }

    /// Returns the spans in rows of which each has no two at a time: slices of a thread must nest.
    static func rows(of spans: [TimelineTracks.Span]) -> [[TimelineTracks.Span]] {
        var rows: [[TimelineTracks.Span]] = []
        for span in spans.sorted(by: { $0.start < $1.start }) {
            let free = rows.firstIndex { row in
                row.last.flatMap(\.end).map { $0 <= span.start } ?? false
            }
            if let free { rows[free].append(span) } else { rows.append([span]) }
        }
        return rows
    }

    private static func writeName(
        _ kind: String, _ name: String, thread: Int, to json: inout JSONWriter
    ) {
        json.object {
            $0.member("ph", "M")
            $0.member("name", kind)
            $0.member("pid", process)
            $0.member("tid", thread)
            $0.member("args") { $0.object { $0.member("name", shown(name)) } }
        }
    }

    private func write(
        _ span: TimelineTracks.Span, of track: TimelineTracks.Track, _ thread: Int,
        to json: inout JSONWriter
    ) {
        let end = span.end ?? max(tracks.end, span.start)
        json.object {
            $0.member("ph", "X")
            $0.member("name", shown(track.name))
            $0.member("cat", track.kind)
            $0.member("pid", Self.process)
            $0.member("tid", thread)
            $0.member("ts", microsecondsOf: span.start)
            $0.member("dur", microsecondsOf: end - span.start)
            $0.member("args") { $0.object { $0.member("text", shown(span.text)) } }
        }
    }

    private func write(
        _ instant: TimelineTracks.Instant, _ thread: Int, to json: inout JSONWriter
    ) {
        json.object {
            $0.member("ph", "i")
            $0.member("s", "t")
            $0.member("name", shown(instant.text))
            $0.member("cat", instant.what)
            $0.member("pid", Self.process)
            $0.member("tid", thread)
            $0.member("ts", microsecondsOf: instant.time)
        }
    }
}

extension JSONWriter {
    /// Writes a member that is a time in microseconds, exact to the nanosecond.
    fileprivate mutating func member(_ key: String, microsecondsOf time: Duration) {
        member(key, millisecondsOf: time.wholeNanoseconds * 1000)
    }
}

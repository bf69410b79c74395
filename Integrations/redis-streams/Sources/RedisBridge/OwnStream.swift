import EventStreams
import Synchronization

/// The stream of this host, and the engine with which it is written.
///
/// The file `redis-stream.json` has its name and marks. A host whose state directory was copied or restored begins a new stream:
/// then the file has, too, up to where the former one is its own.
final class OwnStream: Sendable {
    /// The stream at one time.
    struct Current: Sendable {
        let name: StreamName
        let engine: any StreamEngine
    }

    private struct State {
        var owner: StreamOwner
        var engine: any StreamEngine
        /// The position up to which former streams have nothing that this host has not.
        var left: [StreamName: StreamPosition]
        /// Whether the engine is known to have the mark.
        var isConfirmed = false
        /// The position up to which everything is published.
        var published: StreamPosition?
    }

    private let file: StateFile
    private let makeEngine: @Sendable (StreamOwner) -> any StreamEngine
    private let state: Mutex<State>

    /// Reads the file, and makes the mark of this start.
    ///
    /// - Parameters:
    ///   - hostID: 16 hexadecimal digits.
    ///   - folder: The state directory.
    ///   - cursors: The positions up to which earlier starts have published and received.
    ///   - makeEngine: Creates an engine.
    /// - Throws: ``DurableFileError``.
    init(
        hostID: String, folder: String, cursors: Cursors,
        makeEngine: @escaping @Sendable (StreamOwner) -> any StreamEngine
    ) throws(DurableFileError) {
        guard let first = StreamName(hostID: hostID) else {
            throw DurableFileError("the host id is \(quoted(hostID)), not 16 hexadecimal digits")
        }
        file = StateFile(path: folder + "/redis-stream.json")
        self.makeEngine = makeEngine
        let values = try file.read() ?? [:]
        let name = values["name"].flatMap { StreamName($0) } ?? first
        // Another host id: the file is that of another state directory.
        let isMine = name.hostID == hostID
        let marks = isMine ? (values["marks"] ?? "").split(separator: " ").map(String.init) : []
        let owner = StreamOwner(
            name: isMine ? name : first, mark: StreamOwner.newMark(),
            // Starts that never reached the engine each leave a mark.
            formerMarks: marks.suffix(50),
            published: isMine ? cursors.positions[name] ?? .start : .start)
        let left = SeenRecord("0 " + (values["left"] ?? ""))?.cursors ?? [:]
        state = Mutex(State(owner: owner, engine: makeEngine(owner), left: left))
        try write(owner, left)
    }

    var current: Current { state.withLock { Current(name: $0.owner.name, engine: $0.engine) } }

    /// The position up to which a former stream needs no reading; nil for any other stream.
    func left(_ source: StreamName) -> StreamPosition? { state.withLock { $0.left[source] } }

    /// The position up to which everything was published in this start.
    var published: StreamPosition? { state.withLock { $0.published } }

    /// Notes that the engine has the mark of this start, and perhaps everything up to a position.
    func confirm(_ name: StreamName, published: StreamPosition? = nil) throws(DurableFileError) {
        try state.withLock { state throws(DurableFileError) in
            guard state.owner.name == name else { return }
            if let published { state.published = published }
            guard !state.isConfirmed else { return }
            try write(StreamOwner(name: name, mark: state.owner.mark), state.left)
            state.isConfirmed = true
        }
    }

    /// Begins a new stream.
    ///
    /// - Parameters:
    ///   - former: The stream to leave; nothing is done if that has happened already.
    ///   - position: The position up to which the former stream has nothing that this host has not.
    func renew(_ former: StreamName, leaving position: StreamPosition) throws(DurableFileError) {
        try state.withLock { state throws(DurableFileError) in
            guard state.owner.name == former else { return }
            let renewed = StreamOwner(name: former.renewed(), mark: StreamOwner.newMark())
            let left = state.left.merging([former: position]) { $1 }
            // First the file: a host that dies now has at worst a stream in which nothing stands.
            try write(renewed, left)
            state = State(owner: renewed, engine: makeEngine(renewed), left: left)
        }
    }

    private func write(
        _ owner: StreamOwner, _ left: [StreamName: StreamPosition]
    ) throws(DurableFileError) {
        var values = [
            "name": owner.name.text,
            "marks": (owner.formerMarks + [owner.mark]).joined(separator: " "),
        ]
        if !left.isEmpty {
            values["left"] = String(SeenRecord(time: 0, cursors: left).description.dropFirst(2))
        }
        try file.write(values)
    }
}

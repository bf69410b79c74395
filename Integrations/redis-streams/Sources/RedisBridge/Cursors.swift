import EventStreams

/// The positions up to which a host has received the streams of others, on its disk.
///
/// The file `redis-cursor.json` is behind what was received at worst. Then events come again, with the ids that the inbox knows.
struct Cursors {
    /// The file is missing: the host was never here.
    private(set) var isNew: Bool
    /// Whether the file is not valid, so that all is received again.
    let isDamaged: Bool
    var positions: [StreamName: StreamPosition] = [:]
    private let file: StateFile

    /// Reads the file; a damaged one is as if nothing had been received.
    init(folder: String) {
        file = StateFile(path: folder + "/redis-cursor.json")
        do throws(DurableFileError) {
            let values = try file.read()
            isNew = values == nil
            for (name, position) in values ?? [:] {
                guard let name = StreamName(name), let position = StreamPosition(position) else {
                    throw DurableFileError("\(quoted(file.path)) is not a file of a bridge")
                }
                positions[name] = position
            }
            isDamaged = false
        } catch {
            // Not as if it were new: that may leave events out.
            (isNew, isDamaged, positions) = (false, true, [:])
        }
    }

    /// Writes the file.
    ///
    /// - Parameter own: The position up to which the stream of this host is its own.
    mutating func write(own: (StreamName, StreamPosition)?) throws(DurableFileError) {
        if let (name, position) = own { positions[name] = position }
        var values: [String: String] = [:]
        for (name, position) in positions { values[name.text] = position.description }
        try file.write(values)
        isNew = false
    }
}

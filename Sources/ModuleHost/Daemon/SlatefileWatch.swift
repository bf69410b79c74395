/// Has the slatefile read again when its file has changed: best by another one that is renamed into its
/// place, so that it is never seen half written.
///
/// Sleeps for as long as nothing happens in the file's folder.
final class SlatefileWatch: Sendable {
    /// For how many milliseconds nothing must happen to the file: whoever writes it in pieces is given
    /// time.
    private static let rest: Int32 = 100

    private let reloader: SlatefileReloader
    private let log: Log
    private let folder: String
    private let name: String
    private let ending: WakeSignal

    /// - Throws: ``SystemError`` where there are no descriptors left.
    init(_ reloader: SlatefileReloader, log: Log) throws(SystemError) {
        self.reloader = reloader
        self.log = log
        let path = reloader.options.slatefile
        folder = parentFolder(of: path) ?? "."
        name = path.split(separator: "/").last.map(String.init) ?? path
        ending = try WakeSignal()
    }

    /// Begins to watch, on a thread of its own.
    ///
    /// Where the system does not let it watch, the log says so, and the host runs without.
    ///
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func start() throws(SystemError) { try NativeThread.start(name: "watch") { self.run() } }

    /// Ends the watch.
    func stop() { ending.give() }

    private func run() {
        let watch: FolderWatch
        do throws(FileError) {
            watch = try FolderWatch(folder)
        } catch {
            return log.warning("--watch: \(error); reload by 'hostd reload' or SIGHUP")
        }
        // It may have changed since it was read, and before anybody watched.
        reloader.reload(.changed)
        var hasChanged = false
        while true {
            var poll = PollSet()
            let changes = poll.insert(watch.descriptor, .reading)
            let end = poll.insert(ending.descriptor, .reading)
            let isNews = poll.wait(milliseconds: hasChanged ? Self.rest : -1)
            if isNews, poll.canRead(end) { return }
            if isNews, poll.canRead(changes) {
                let changes = watch.takeChanges()
                if changes.isOver {
                    return log.warning("--watch: the folder of the slatefile is gone")
                }
                if changes.isIncomplete || changes.names.contains(name) { hasChanged = true }
            } else if hasChanged {
                hasChanged = false
                reloader.reload(.changed)
            }
        }
    }
}

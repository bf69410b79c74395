/// A watch that has the slatefile reloaded when its file has changed: preferably by another one that is
/// renamed into its place, so that a partial file is never read.
///
/// Where links are on the way to it, they may be switched as well. Sleeps as long as nothing happens in the
/// folders that the path depends on.
final class SlatefileWatch: Sendable {
    /// The time in milliseconds for which the file must stay unchanged, for programs that write it in pieces.
    private static let rest: Int32 = 100

    private let reloader: SlatefileReloader
    private let log: Log
    private let ending: WakeSignal

    /// - Throws: ``SystemError`` where there are no descriptors left.
    init(_ reloader: SlatefileReloader, log: Log) throws(SystemError) {
        self.reloader = reloader
        self.log = log
        ending = try WakeSignal()
    }

    /// Begins to watch, on a thread of its own.
    ///
    /// Where the system does not allow it, that is logged, and the host runs without the watch.
    ///
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func start() throws(SystemError) { try NativeThread.start(name: "watch") { self.run() } }

    /// Ends the watch.
    func stop() { ending.give() }

    private func run() {
        do throws(FileError) { try watch() } catch {
            log.warning(
                "--watch: \(error); reload by '\(reloader.options.program.name) reload' or SIGHUP")
        }
    }

    private func watch() throws(FileError) {
        let watch = try PathWatch(reloader.options.slatefile)
        // It may have changed since it was read, and before it was watched.
        reloader.reload(.changed)
        var hasChanged = false
        while true {
            var poll = PollSet()
            let changes = poll.insert(watch.descriptor, .reading)
            let end = poll.insert(ending.descriptor, .reading)
            let isNews = poll.wait(milliseconds: hasChanged ? Self.rest : -1)
            if isNews, poll.canRead(end) { return }
            if isNews, poll.canRead(changes) {
                if try watch.takeChanges() { hasChanged = true }
            } else if hasChanged {
                hasChanged = false
                reloader.reload(.changed)
            }
        }
    }
}

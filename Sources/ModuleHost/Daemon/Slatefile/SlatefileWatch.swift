/// Has the slatefile read again when its file has changed: best by another one that is renamed into its
/// place, so that it is never seen half written.
///
/// Where links are on the way to it, they may be switched elsewhere as well. Sleeps for as long as nothing
/// happens in the folders on which it depends what is read.
final class SlatefileWatch: Sendable {
    /// For how many milliseconds nothing must happen to the file: a program that writes it in pieces is given
    /// time.
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
    /// Where the system does not let it watch, the log says so, and the host runs without.
    ///
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func start() throws(SystemError) { try NativeThread.start(name: "watch") { self.run() } }

    /// Ends the watch.
    func stop() { ending.give() }

    private func run() {
        do throws(FileError) { try watch() } catch {
            log.warning("--watch: \(error); reload by 'hostd reload' or SIGHUP")
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

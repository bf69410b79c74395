/// The black box of a daemon: the last host's, and its own, where there is room for one.
struct DaemonBlackBox: Sendable {
    /// The contents of the last host's box on the state directory; nil if there was none.
    let previous: BlackBox.Contents?
    /// This host's black box; nil if it runs without one.
    let box: BlackBox?
    private let directory: StateDirectory
    private let log: Log

    /// Reads the last host's box, logs that host's death if it died, and creates a new box.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which this process has claimed.
    ///   - log: The log. A box that cannot be created causes a warning, and no other consequence.
    init(in directory: StateDirectory, for slatefile: Slatefile, log: Log) {
        self.directory = directory
        self.log = log
        do throws(FileError) {
            box = try BlackBox(
                in: directory, app: slatefile.app, modules: slatefile.modules.count)
            previous = box?.previous
        } catch {
            box = nil
            previous = BlackBox.Contents(in: directory)
            warn(error)
        }
        if let death = previous?.death { log.warning("\(death)") }
    }

    /// Replaces the old box by the new one: the old one was processed.
    func begin() {
        guard let box else { return BlackBox.remove(in: directory) }
        do throws(FileError) {
            try box.begin()
        } catch {
            warn(error)
            BlackBox.remove(in: directory)
        }
    }

    /// Notes how the host ends.
    func end(_ state: BlackBox.State) { box?.setState(state) }

    private func warn(_ error: FileError) {
        log.warning(
            "no black box: \(error); if this host dies, the next one cannot report what it was doing"
        )
    }
}

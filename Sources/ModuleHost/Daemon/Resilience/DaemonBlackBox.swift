/// The black box of a daemon: what the last one left, and its own, where there is room for one.
struct DaemonBlackBox: Sendable {
    /// The contents that the last host on the state directory left; nil if there was none.
    let previous: BlackBox.Contents?
    /// This host's black box; nil if it runs without one.
    let box: BlackBox?
    private let directory: StateDirectory
    private let log: Log

    /// Reads what the last host left, says it if that died, and makes a new box.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which this process has claimed.
    ///   - slatefile: What is to run.
    ///   - log: Where to say it. A box that cannot be made costs a warning, and nothing else.
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

    /// Lets the new box take the place of the old one: what that said has been made use of.
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
            "no black box: \(error); if this host dies, the next one cannot say what it was at")
    }
}

/// The black box of a daemon, the last host's and its own, and the record that both continue: what outlives a host.
struct DaemonBlackBox: Sendable {
    /// The contents of the last host's box on the state directory; nil if there was none.
    let previous: BlackBox.Contents?
    /// This host's black box; nil if it runs without one.
    let box: BlackBox?
    /// The record of what happens: in memory alone if there is no room for its file, and nil if there is none for that.
    let ring: RecordRing?
    private let directory: StateDirectory
    private let log: Log

    /// Reads the last host's box, logs that host's death if it died, and creates a new box.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which this process has claimed.
    ///   - slatefile: The slatefile.
    ///   - program: The program of the host.
    ///   - recordSize: The size of the record in bytes.
    ///   - scope: What the record keeps of deliveries and calls.
    ///   - log: The log. A box that cannot be created causes a warning, and no other consequence.
    init(
        in directory: StateDirectory, for slatefile: Slatefile, of program: ProgramIdentity,
        recordSize: Int, _ scope: RecordRing.Scope, log: Log
    ) {
        self.directory = directory
        self.log = log
        do throws(FileError) {
            ring = try RecordRing(in: directory, size: recordSize, scope: scope)
        } catch {
            log.warning("the record is kept in memory alone, and ends with this host: \(error)")
            ring = try? RecordRing(inMemory: recordSize, scope: scope)
        }
        do throws(FileError) {
            box = try BlackBox(
                in: directory, app: slatefile.app, modules: slatefile.modules.count)
            previous = box?.previous
        } catch {
            box = nil
            previous = BlackBox.Contents(in: directory)
            Self.warn(error, log)
        }
        if let death = previous?.death {
            log.warning("\(death)")
            ring?.add(.lastHostDied("\(death)"), of: death.module)
        }
        ring?.add(.started(version: program.version, processID: Int(CurrentProcess.id)))
    }

    /// Replaces the old box by the new one: the old one was processed.
    func begin() {
        guard let box else { return BlackBox.remove(in: directory) }
        do throws(FileError) {
            try box.begin()
        } catch {
            Self.warn(error, log)
            BlackBox.remove(in: directory)
        }
    }

    /// Notes how the host ends.
    ///
    /// - Parameters:
    ///   - state: The state in the black box.
    ///   - reason: The reason; nil for a stop in good order.
    func end(_ state: BlackBox.State, because reason: String? = nil) {
        ring?.add(.ended(reason: reason))
        box?.setState(state)
    }

    private static func warn(_ error: FileError, _ log: Log) {
        log.warning(
            "no black box: \(error); if this host dies, the next one cannot report what it was doing"
        )
    }
}

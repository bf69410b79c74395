import AppService
import ModuleHostCore

/// The inbox and the black box of a host with durable events.
struct DurableParts {
    let inbox: Inbox
    let blackBox: BlackBox

    init(
        of slatefile: Slatefile, in folder: TemporaryFolder, log: Log, time: any TimeSource
    ) throws {
        let directory = StateDirectory(path: folder.path)
        blackBox = try BlackBox(in: directory, app: slatefile.app)
        inbox = try Inbox(
            in: directory, after: blackBox.previous, box: blackBox, log: log,
            time: time)
    }

    func start() throws {
        try blackBox.begin()
        try inbox.start()
    }

    func end() { inbox.stop(within: .seconds(60)) }
}

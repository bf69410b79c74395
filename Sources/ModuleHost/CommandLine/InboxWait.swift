import AppService

/// The notice of a command that waits for the inbox because another program has locked it.
enum InboxWait {
    /// The time after which the notice appears, as in the log of a host.
    private static let patience: Duration = .seconds(5)

    /// Reports on stderr which program has locked the inbox, if the command still runs after ``patience`` and
    /// the inbox is locked then.
    static func report(in folder: InboxFolder, _ arguments: Arguments) {
        let title = arguments.title
        SystemTimeSource.shared.schedule(after: patience) {
            let holders = lockHolders(of: folder.lockPath).filter { $0 != CurrentProcess.id }
            guard !holders.isEmpty else { return }
            Console.printError(
                """
                \(title): waiting for process \(holders.map(String.init).joined(separator: ", ")), which has \
                locked '\(folder.lockPath)'
                """)
        }
    }
}

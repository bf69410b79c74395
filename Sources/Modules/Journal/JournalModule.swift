public import ModuleHostCore

/// A module that appends every event that it receives to a file, as one JSON line.
///
/// ```json
/// {"time":"2026-03-01T09:41:00.123Z","event":"push","payload":{"aps":{"badge":3}},"origin":{"kind":"host"}}
/// ```
///
/// A durable event also has its `id` and its `position` in the inbox, and from the second `attempt` to
/// deliver it on the number of the attempt; in the first one, `"repeated":true` if it may have been
/// received before all the same:
///
/// ```json
/// {"time":"2026-03-01T09:41:00.123Z","event":"push","id":"order-17","position":"1:4097","attempt":2,…}
/// ```
///
/// Payloads are written as received, except the tokens of URLs, so the file is created for its owner alone
/// (0600). It can be rotated: move it away and send HUP, and the module creates it again.
///
/// Give it the first place in the slatefile, so that it also receives events that another module claims.
///
/// | setting | | default |
/// |---|---|---|
/// | `file` | the file; relative to the state directory. A symbolic link is followed where the host's user or root created it | `journal.ndjson` |
/// | `sync` | whether each line is on the disk before the next module receives the event | `false` |
public final class JournalModule: EveryEventResponder, LaunchResponder,
    ConfigurationResponder, ConfiguredModule
{
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let file: OutputPath?
        let sync: Bool?
    }

    private let context: ModuleContext
    private var configuration: Configuration
    private var file: AppendFile?
    /// Whether the last line, written by this process or one before it, may be incomplete.
    private var isTorn = false
    private var line = JSONWriter()

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, and the current event.
    /// - Throws: ``JSONError`` where the settings are not valid.
    public init(context: ModuleContext) throws {
        self.context = context
        configuration = try context.config()
    }

    /// Opens the file and writes its first line.
    ///
    /// - Parameter launch: The circumstances of the launch.
    /// - Throws: An error where the file cannot be written.
    public func didFinishLaunching(_ launch: Launch) throws {
        try open(configuration)
        try didHear(.launch)
    }

    /// Applies new settings, and reopens the file in any case: it may have been moved away.
    ///
    /// - Parameter change: The current settings.
    /// - Throws: An error where the file cannot be opened. The journal then continues in the file that is
    ///   open.
    public func configurationDidChange(_ change: ConfigurationChange) throws {
        let opening = Result { try open(context.config()) }
        try didHear(.configurationChanged)
        try opening.get()
    }

    /// Appends the current event.
    ///
    /// - Parameter kind: The kind of event.
    /// - Throws: An error where the file cannot be written.
    public func didHear(_ kind: EventKind) throws {
        guard let file, let event = context.event else { return }
        line.removeAll()
        line.journalLine(of: event, at: .now())
        do throws(FileError) {
            // An incomplete line must not continue into this one.
            try file.append(isTorn ? [UInt8(ascii: "\n")] + line.bytes : line.bytes)
            isTorn = false
            if configuration.sync == true { try file.synchronize() }
        } catch {
            isTorn = (try? file.endsInsideLine()) ?? true
            throw OutputFileError(error)
        }
    }

    private func open(_ configuration: Configuration) throws {
        let path = configuration.file ?? OutputPath("journal.ndjson")
        do throws(FileError) {
            let file = try AppendFile(path: path.text, below: context.stateDirectory)
            isTorn = try file.endsInsideLine()
            self.file = file
        } catch {
            throw OutputFileError(error)
        }
        self.configuration = configuration
    }
}

/// The keys of one kind of object, as the reader knows them.
protocol KnownKey: CaseIterable, Hashable, Sendable, RawRepresentable<String> {
    /// The required keys.
    static var mandatory: [Self] { get }
    /// The keys by the bytes of their names, created once.
    static var table: KeyTable<Self> { get }
    /// Returns what to write instead of a key that other programs know, phrased to follow the error; nil if
    /// there is no such advice.
    static func remedy(for key: String) -> String?
}

/// The keys of one kind of object of the slatefile, for the reader and for the JSON Schema.
///
/// One list for both, so that neither can know a key that the other does not.
protocol SlatefileKey: KnownKey {
    /// The schema of the key's value: the members of an object.
    var schema: String { get }
}

extension KnownKey {
    static var mandatory: [Self] { [] }
    static func remedy(for key: String) -> String? { nil }
}

/// A table that finds a key by its bytes.
struct KeyTable<Key: KnownKey>: Sendable {
    private let keys: [Key]
    /// The names one after another, shortest first.
    private let text: [UInt8]
    /// By length: the first key of that length, and where its name begins in `text`.
    private let first: [(key: Int, offset: Int)]

    init() {
        keys = Key.allCases.sortedByNumber(\.rawValue.utf8.count)
        text = keys.flatMap { $0.rawValue.utf8 }
        let lengths = keys.map(\.rawValue.utf8.count)
        first = (0...(lengths.last ?? 0) + 1).map { length in
            let shorter = lengths.prefix { $0 < length }
            return (shorter.count, shorter.reduce(0, +))
        }
    }

    @inline(__always)
    func key(spelt range: Range<Int>, of bytes: [UInt8]) -> Key? {
        let length = range.count
        guard length + 1 < first.count else { return nil }
        var offset = first[length].offset
        var index = first[length].key
        let end = first[length + 1].key
        while index < end {
            var matched = 0
            while matched < length, text[offset + matched] == bytes[range.lowerBound + matched] {
                matched += 1
            }
            if matched == length { return keys[index] }
            index += 1
            offset += length
        }
        return nil
    }
}

/// The keys of the slatefile itself.
enum AppKey: String, SlatefileKey {
    case schema = "$schema"
    case slate, app, schemes, config, modules, fallback, rewrites, signals, startup, deadlines
    case security, isolation, logLevel, host

    static let mandatory: [AppKey] = [.slate, .app, .modules]
    static let table = KeyTable<AppKey>()
}

/// The keys of a module.
enum ModuleKey: String, SlatefileKey {
    case id, entry, command, enabled, required, retry, ends, replace, main, needs, launch, idle
    case provides, events, topics, instead, deadline, killAfter, isolation, env, may, backlog, keep
    case logLevel, config, git, branch, tag, path
    case product

    static let mandatory: [ModuleKey] = [.id]
    static let table = KeyTable<ModuleKey>()

    static func remedy(for key: String) -> String? {
        switch key {
        case "cwd", "workdir", "workingDirectory", "directory":
            "a command runs in the folder of the slatefile; for another one write "
                + #"["sh", "-c", "cd FOLDER && exec PROGRAM"]"#
        case "user", "group":
            "a command runs as the user of the host; for another one write "
                + #"["setpriv", "--reuid=USER", "--regid=GROUP", "--init-groups", "PROGRAM"]"#
        case "args", "arguments": "the arguments of a command are in 'command', after the program"
        case "environment":
            "'env' has the names of the host's variables that the module's process gets"
        default: nil
        }
    }
}

/// The keys of `host`.
enum HostKey: String, SlatefileKey {
    case git, branch, tag, path

    static let table = KeyTable<HostKey>()
}

/// The keys of a rewrite.
enum RewriteKey: String, SlatefileKey {
    case from, to

    static let mandatory: [RewriteKey] = [.from, .to]
    static let table = KeyTable<RewriteKey>()
}

/// The keys of the action of a signal.
enum SignalKey: String, SlatefileKey {
    case event, payload, url, topic

    static let mandatory: [SignalKey] = [.event]
    static let table = KeyTable<SignalKey>()
}

/// The keys of `startup`.
enum StartupKey: String, SlatefileKey {
    case width, deadline

    static let table = KeyTable<StartupKey>()
}

/// The keys of `deadlines`.
enum DeadlineKey: String, SlatefileKey {
    case event, call, launch, stop, stopAll

    static let table = KeyTable<DeadlineKey>()
}

/// The keys of `security`.
enum SecurityKey: String, SlatefileKey {
    case tokens

    static let table = KeyTable<SecurityKey>()
}

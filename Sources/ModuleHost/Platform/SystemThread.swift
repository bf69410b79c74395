/// A thread of this process, as the system shows it in `/proc`.
struct SystemThread: Hashable, Sendable {
    /// The system's number of the thread.
    let id: Int32
    /// The name that `ps` and debuggers show; the thread itself chose it.
    let name: String
    /// Whether this is the thread that runs `main`.
    let isMain: Bool
    /// The signals that the thread has blocked, a bit each from signal 1 on.
    private let blocked: UInt64

    /// The calling thread; nil where `/proc` is not mounted.
    static var current: SystemThread? { SystemThread("/proc/thread-self") }

    /// The threads of this process, by number.
    ///
    /// Empty where `/proc` is not mounted. A thread that ends meanwhile may be missing.
    static var all: [SystemThread] {
        let names = (try? namesInFolder("/proc/self/task")) ?? []
        return names.compactMap { Int32($0) }.sorted().compactMap {
            SystemThread("/proc/self/task/\($0)")
        }
    }

    private init?(_ folder: String) {
        guard let status = try? readFile(at: "\(folder)/status", limit: 1 << 16) else { return nil }
        // A line break in the name is escaped there.
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        func value(_ key: String) -> Substring? {
            lines.first { $0.hasPrefix(key) }?.dropFirst(key.count)
        }
        guard let id = value("Pid:\t").flatMap({ Int32($0) }),
            let process = value("Tgid:\t").flatMap({ Int32($0) }),
            let mask = value("SigBlk:\t").flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        self.id = id
        name = value("Name:\t").map(String.init) ?? ""
        isMain = id == process
        blocked = mask
    }

    /// Returns whether the thread has blocked a signal.
    func blocks(_ signal: Int32) -> Bool { blocked >> UInt64(signal - 1) & 1 == 1 }
}

extension SystemThread: CustomStringConvertible {
    /// Number and name, such as `4712 ('worker')`.
    var description: String { "\(id) ('\(name)')" }
}

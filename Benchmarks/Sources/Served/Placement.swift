import Foundation

/// The cores on which a sender and a receiver run.
package enum Placement: CaseIterable {
    case oneCore, twoCores

    /// The name of a column.
    package var title: String {
        switch self {
        case .oneCore: "one core"
        case .twoCores: "two cores"
        }
    }

    /// The cores on which this process may run.
    ///
    /// From `/proc`, such as `0-1` or `0,2-3`: the system call is not visible to Swift.
    private static let cores: [Int] = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let name = "Cpus_allowed_list:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
            return []
        }
        let list = line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
        return list.split(separator: ",").flatMap { range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
        }
    }()

    /// Has this process run on the first of its cores only, and another one on the first or the second.
    ///
    /// The kernel may place the two on one core or on two, differently in each run.
    ///
    /// - Parameter receiver: The id of the other process. Threads that it makes later are placed as the others.
    /// - Throws: ``Failure`` where this process may not run on as many cores.
    package func place(_ receiver: Int32) throws {
        let cores = Self.cores
        guard cores.count > 1 else { throw Failure("there is one core only: two are compared") }
        try pin(getpid(), to: cores[0])
        try pin(receiver, to: cores[self == .oneCore ? 0 : 1])
    }

    private func pin(_ process: Int32, to core: Int) throws {
        let command = Process()
        command.executableURL = URL(filePath: "/usr/bin/taskset")
        command.arguments = ["-acp", "\(core)", "\(process)"]
        command.standardOutput = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        guard command.terminationStatus == 0 else {
            throw Failure("process \(process) cannot be placed on core \(core)")
        }
    }
}

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

    /// Has this process run on the first core only, and another one on the first or the second.
    ///
    /// Where the kernel chooses, it is up to chance whether the two are on one core.
    ///
    /// - Parameter receiver: The id of the other process. Threads that it makes later are placed as the others.
    /// - Throws: ``Failure`` where the machine has no such core.
    package func place(_ receiver: Int32) throws {
        try pin(getpid(), to: 0)
        try pin(receiver, to: self == .oneCore ? 0 : 1)
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

/// The modules that were running at deaths of hosts, as counted in the file `isolated.json`.
///
/// ```
/// {"modules":{"com.mm.push":{"deaths":2,"host":"4711 2026-03-01T09:41:00.123Z","text":"the last host …"}}}
/// ```
///
/// With `"isolation": "auto"` in the slatefile, a module that was counted ``limit`` times runs in a process
/// of its own. Deaths do not expire: a module that crashes the host once a month does it again.
package struct CrashHistory: Hashable, Sendable {
    /// The crashes of one module.
    package struct Record: Hashable, Sendable {
        /// The number of hosts that died while the module was running.
        package var deaths: Int
        /// The last of these hosts, by its process and its start: a module is counted only once for each.
        package var host: String
        /// The description of the last of these deaths.
        package var text: String
    }

    /// The number of deaths from which on a module is isolated.
    package static let limit = 2

    package private(set) var records: [ModuleID: Record] = [:]

    package init() {}

    /// The modules that are to run in a process of their own.
    package var isolated: [ModuleID: Record] { records.filter { $0.value.deaths >= Self.limit } }

    /// Counts a death against the module that was running.
    ///
    /// - Parameters:
    ///   - death: The death of the last host.
    ///   - isCandidate: Returns whether a module ran in the host itself, and so may have been the cause.
    /// - Returns: Whether the count has changed: not if no module is known to be the cause, nor where this
    ///   death was counted before.
    package mutating func record(_ death: LastDeath, where isCandidate: (ModuleID) -> Bool) -> Bool
    {
        guard let culprit = death.culprit, isCandidate(culprit) else { return false }
        let host = "\(death.processID) \(death.startedAt.iso8601)"
        guard records[culprit]?.host != host else { return false }
        let deaths = (records[culprit]?.deaths ?? 0) + 1
        records[culprit] = Record(deaths: deaths, host: host, text: "\(death)")
        return true
    }
}

extension LastDeath {
    /// The module that was the cause, as far as is known; nil where several may have been, and where the
    /// machine went down.
    ///
    /// It is the module that the lane was in; where that was in none, the only one on a thread of its own.
    var culprit: ModuleID? {
        guard cause == .process else { return nil }
        if let module { return module }
        let others = Set(overdue + startingUp)
        return others.count == 1 ? others.first : nil
    }
}

/// The reason why the count cannot be used.
package typealias CrashHistoryError = StateFileError<CrashHistory>

extension CrashHistory {
    /// Reads the count of a state directory, changes it, and writes it back; no other process does so
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which must exist.
    ///   - change: Returns whether it has changed anything.
    /// - Returns: The count after the change. A missing file counts nothing.
    /// - Throws: ``CrashHistoryError``.
    @discardableResult
    package static func update(
        in directory: StateDirectory, _ change: (inout CrashHistory) -> Bool
    ) throws(CrashHistoryError) -> CrashHistory {
        let turn = try lock(directory)
        defer { turn.unlock() }
        var modules = try CrashHistory(in: directory)
        if change(&modules) { try modules.write(to: directory) }
        return modules
    }

    /// Removes the crashes of a module.
    ///
    /// - Parameter module: The module.
    /// - Returns: Its former crashes; nil for none.
    package mutating func resetCrashes(_ module: ModuleID) -> Record? {
        records.removeValue(forKey: module)
    }
}

// MARK: - The file

extension CrashHistory: StateFile {
    package static let fileName = "isolated.json"
    package static let lockName = "isolated.lock"
    package static let purpose = "counts the deaths of hosts"
    package static let remedy = "the count begins again"
    package static let loss = "the deaths of hosts cannot be counted"

    package struct Stored: Decodable {
        fileprivate struct Record: Decodable {
            let deaths: Int
            let host: String
            let text: String
        }

        fileprivate let modules: [String: Record]
    }

    package init(_ stored: Stored) throws {
        for (name, record) in stored.modules {
            records[try ModuleID(name)] = Record(
                deaths: record.deaths, host: record.host, text: record.text)
        }
    }

    package func writeMembers(to json: inout JSONWriter) {
        json.member("modules") {
            $0.object { json in
                for (module, record) in records.sortedByText(\.key.text) {
                    json.member(module.text) {
                        $0.object {
                            $0.member("deaths", record.deaths)
                            $0.member("host", record.host)
                            $0.member("text", record.text)
                        }
                    }
                }
            }
        }
    }
}

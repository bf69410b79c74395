import AppService

/// The modules that an operator has disabled beside the slatefile, in the file `disabled.json` of a state directory.
///
/// ```
/// {"modules":["com.mm.push"]}
/// ```
///
/// A host reads the file with each slatefile, as if the entries of these modules had `"enabled": false`. A module that
/// the slatefile no longer has stays in the file.
package struct DisabledModules: Hashable, Sendable {
    package private(set) var ids: Set<ModuleID>

    package init() { self.init(ids: []) }

    init(ids: Set<ModuleID>) { self.ids = ids }

    /// A request to change what is disabled.
    package enum Change: Hashable, Sendable {
        /// To disable a module, and with it, if requested, the modules that need it.
        case disable(withDependents: Bool)
        /// To let the slatefile decide again.
        case enable
    }

    /// Carries out a request.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - name: The id of a module.
    ///   - slatefile: The slatefile as it is written.
    /// - Returns: The modules for which something has changed, in slatefile order.
    /// - Throws: ``DisablingError``; nothing has changed.
    mutating func apply(
        _ change: Change, to name: String, in slatefile: Slatefile
    ) throws(DisablingError) -> [ModuleID] {
        let entry = slatefile.modules.first { $0.id.text == name }
        guard let id = entry?.id ?? ids.first(where: { $0.text == name }) else {
            let names = slatefile.modules.lazy.map(\.id.text)
            throw .unknown(NoSuchModule(name: name, nearest: nearestName(to: name, in: names)))
        }
        var next = self
        switch change {
        case .disable(let withDependents):
            guard entry?.isEnabled != false else { return [] }
            var added: Set<ModuleID> = [id]
            // What a module needs stands before it.
            for module in slatefile.modules where withDependents && module.isEnabled {
                if module.needs.contains(where: added.contains) { added.insert(module.id) }
            }
            next.ids.formUnion(added)
            if let kept = slatefile.disabling(next).kept.last(where: { added.contains($0.id) }) {
                throw .refused(kept.refusal)
            }
        case .enable:
            guard next.ids.remove(id) != nil || entry?.isEnabled != false else {
                throw .refused(Self.notEnabled(id))
            }
            let kept = Set(slatefile.disabling(self).kept.map(\.id))
            if let need = slatefile.disabling(next).kept.last(where: { !kept.contains($0.id) }) {
                throw .refused("\(id) needs \(need.id), which is disabled: enable that first")
            }
        }
        let changed = next.ids.symmetricDifference(ids)
        self = next
        let known = slatefile.modules.map(\.id).filter(changed.contains)
        return known.isEmpty ? Array(changed) : known
    }

    /// Returns the advice for a module whose entry has `"enabled": false`.
    static func notEnabled(_ id: ModuleID) -> String {
        "\(id) is not enabled in the slatefile: change it there, and reload"
    }
}

/// A module that stays enabled, although it is listed as disabled.
package struct KeptModule: Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case isMain
        case isRequired
        case isFallback
        case isNeeded(by: ModuleID)
        /// The class of the other module declares it.
        case isUsed(by: ModuleID)
    }

    package let id: ModuleID
    package let reason: Reason

    package var description: String {
        switch reason {
        case .isMain: "\(id) is the main module, which the app cannot be without"
        case .isRequired: "\(id) is required: the app cannot run without it"
        case .isFallback: "\(id) is the fallback, which answers URLs that no other module answers"
        case .isNeeded(let other): "\(id) is needed by \(other)"
        case .isUsed(let other):
            "\(id) has a service or an action that \(other) declares it uses"
        }
    }

    /// The reason with what to do.
    fileprivate var refusal: String {
        switch reason {
        case .isMain, .isRequired, .isFallback: description
        case .isNeeded: "\(self): --with-dependents disables both"
        case .isUsed: "\(self): disable that one first"
        }
    }
}

extension Slatefile {
    /// Returns the slatefile without the modules that are disabled, and those among them that must stay.
    package func disabling(
        _ disabled: DisabledModules
    ) -> (slatefile: Slatefile, kept: [KeptModule]) {
        guard !disabled.ids.isEmpty else { return (self, []) }
        /// For a module, one that uses it and stays enabled.
        var users: [ModuleID: ModuleID] = [:]
        while true {
            let result = disabling(disabled, keeping: users)
            guard let use = UseCheck.disabledUse(in: result.slatefile),
                users.updateValue(use.user, forKey: use.module) == nil
            else { return result }
        }
    }

    private func disabling(
        _ disabled: DisabledModules, keeping users: [ModuleID: ModuleID]
    ) -> (slatefile: Slatefile, kept: [KeptModule]) {
        var slatefile = self
        var kept: [KeptModule] = []
        /// For a module, the first of the enabled ones that need it.
        var dependents: [ModuleID: ModuleID] = [:]
        // What a module needs stands before it, so the modules that need one are decided first.
        for index in modules.indices.reversed() where modules[index].isEnabled {
            let module = modules[index]
            if disabled.ids.contains(module.id) {
                let reason =
                    reasonToKeep(module, neededBy: dependents[module.id])
                    ?? users[module.id].map { .isUsed(by: $0) }
                guard let reason else {
                    slatefile.modules[index].isEnabled = false
                    slatefile.modules[index].isDisabled = true
                    continue
                }
                kept.append(KeptModule(id: module.id, reason: reason))
            }
            for need in module.needs { dependents[need] = module.id }
        }
        return (slatefile, kept.reversed())
    }

    private func reasonToKeep(_ module: Module, neededBy other: ModuleID?) -> KeptModule.Reason? {
        if module.isMain { return .isMain }
        if module.isRequired { return .isRequired }
        if module.id == fallback { return .isFallback }
        return other.map { .isNeeded(by: $0) }
    }

    /// Returns the slatefile without the modules that are disabled.
    ///
    /// - Parameter log: Receives a warning for each module that stays enabled.
    func disabling(_ disabled: DisabledModules, log: Log) -> Slatefile {
        let (slatefile, kept) = disabling(disabled)
        for module in kept {
            log.of(module: module.id.text).warning("stays enabled, although disabled: \(module)")
        }
        return slatefile
    }

    /// Returns the slatefile for the start of a host, without the modules that are disabled in a state directory.
    ///
    /// - Parameters:
    ///   - log: Receives a notice for each module that is disabled, a warning for each that stays enabled, and an error for
    ///     a file that cannot be used, which then disables none.
    ///   - program: The name of the program of the host.
    func disablingModules(
        in directory: StateDirectory, log: Log, program: String
    ) -> Slatefile {
        do throws(DisabledModulesError) {
            let slatefile = disabling(try DisabledModules(in: directory), log: log)
            for module in slatefile.modules where module.isDisabled {
                log.of(module: module.id.text).notice(
                    "disabled by '\(program) disable': '\(program) enable' runs it again")
            }
            return slatefile
        } catch {
            log.error("no module is disabled: \(error)")
            return self
        }
    }
}

/// The reason why modules are not disabled or enabled.
enum DisablingError: Error {
    case unknown(NoSuchModule)
    case refused(String)
    case file(DisabledModulesError)
}

/// The reason why the list of disabled modules cannot be used.
package typealias DisabledModulesError = StateFileError<DisabledModules>

// MARK: - The file

extension DisabledModules: StateFile {
    package static let fileName = "disabled.json"
    package static let lockName = "disabled.lock"
    package static let purpose = "lists the disabled modules"
    package static let remedy = "disable them again"
    package static let loss = "the list of disabled modules cannot be written"

    package struct Stored: Decodable {
        fileprivate let modules: [String]
    }

    package init(_ stored: Stored) throws {
        try self.init(ids: Set(stored.modules.map { try ModuleID($0) }))
    }

    package func writeMembers(to json: inout JSONWriter) {
        json.member("modules", ids.map(\.text).sorted())
    }
}

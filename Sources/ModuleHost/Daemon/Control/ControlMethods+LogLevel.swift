private struct LogLevelParameters: Decodable, Sendable {
    /// A level or `default`; nil to change nothing.
    let level: String?
    /// The id of a module; nil for the host.
    let module: String?
}

extension ControlMethods {
    /// Adds `log.level`, which chooses a level of the log, and responds with those in effect.
    ///
    /// Without the lane: also while a module hangs, and before READY.
    mutating func addLogLevel(of host: AppHost) {
        add("log.level", LogLevelParameters.self) { parameters, call in
            do throws(RPCError) {
                try host.choose(parameters, for: call.peer.origin)
                call.reply.succeed { host.writeLogLevels(to: &$0) }
            } catch {
                call.reply.fail(error)
            }
        }
    }
}

extension LogLevel {
    /// The word for the level of the start or of the slatefile.
    package static let standardWord = "default"
    /// The words that choose a level.
    package static var words: [String] { allCases.map(\.rawValue) + [standardWord] }
}

extension AppHost {
    fileprivate func choose(
        _ parameters: LogLevelParameters, for origin: Origin
    ) throws(RPCError) {
        guard let word = parameters.level else {
            guard parameters.module == nil else {
                throw .invalidParameters("'module' is there, and 'level' is missing")
            }
            return
        }
        let level = LogLevel(rawValue: word)
        guard level != nil || word == LogLevel.standardWord else {
            throw .invalidParameters(
                "/level: \(quoted(word)) is not one of \(LogLevel.words.joined(separator: ", "))")
        }
        if let name = parameters.module, let error = missingModule(name) {
            throw RPCError(error)
        }
        let levels = log.levels
        let log = parameters.module.map(log.of(module:)) ?? log
        // Before the new level, if that would suppress the line.
        let isLoggedBefore = levels.isWritten(.notice, for: parameters.module)
        if isLoggedBefore { log.notice("log level \(word) (\(origin))") }
        levels.choose(level, for: parameters.module)
        if !isLoggedBefore { log.notice("log level \(word) (\(origin))") }
    }

    fileprivate func writeLogLevels(to json: inout JSONWriter) {
        let (own, modules) = (log.levels.host, log.levels.modules)
        json.object {
            $0.members(of: own)
            $0.member("modules") {
                $0.objects(for: modules.sorted { $0.key < $1.key }) { module, json in
                    json.member("module", module.key)
                    json.members(of: module.value)
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of setting: LogLevels.Setting) {
        member("level", setting.level.rawValue)
        if let standard = setting.standard { member("default", standard.rawValue) }
    }
}

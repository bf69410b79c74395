import AppService

/// The slatefile in effect as a slatefile, in which every default is written.
extension Slatefile {
    /// Writes the slatefile as one object.
    ///
    /// The settings have `${NAME}` as they are written, and not the value of the variable: that may be a secret.
    func writeEffective(to json: inout JSONWriter) {
        json.object {
            $0.member(AppKey.slate.rawValue, 1)
            $0.member(AppKey.app.rawValue, app)
            if !schemes.isEmpty { $0.member(AppKey.schemes.rawValue, schemes) }
            if let config { $0.member(AppKey.config.rawValue, unfilled: config) }
            $0.member(AppKey.startup.rawValue) { startup.write(to: &$0) }
            $0.member(AppKey.deadlines.rawValue) { deadlines.writeDurations(to: &$0) }
            $0.member(AppKey.isolation.rawValue, isolation.rawValue)
            $0.member(AppKey.logLevel.rawValue, logLevel.rawValue)
            if let tokens = security.tokens {
                $0.member(AppKey.security.rawValue) {
                    $0.object { $0.member(SecurityKey.tokens.rawValue, tokens) }
                }
            }
            $0.member(AppKey.signals.rawValue) { json in
                json.object {
                    for (signal, action) in signals.sorted(by: { $0.key.name < $1.key.name }) {
                        $0.member(signal.name) { action.write(to: &$0) }
                    }
                }
            }
            if let fallback { $0.member(AppKey.fallback.rawValue, fallback.text) }
            if !rewrites.isEmpty {
                $0.member(AppKey.rewrites.rawValue) {
                    $0.objects(for: rewrites) { rewrite, json in
                        json.member(RewriteKey.from.rawValue, rewrite.from)
                        json.member(RewriteKey.to.rawValue, rewrite.to)
                    }
                }
            }
            $0.member(AppKey.modules.rawValue) {
                $0.objects(for: modules) { module, json in
                    module.writeEffective(in: self, to: &json)
                }
            }
        }
    }
}

extension Slatefile.Module {
    /// Writes the members that are written in the slatefile, and then those that have their defaults.
    fileprivate func writeEffective(in slatefile: Slatefile, to json: inout JSONWriter) {
        var changed: [ModuleKey: String] = [:]
        // An app that was composed of a part has other modules, and crashes isolate modules.
        if isEnabled != value[ModuleKey.enabled.rawValue]?.bool ?? true {
            changed[.enabled] = "\(isEnabled)"
        }
        if isMain != value[ModuleKey.main.rawValue]?.bool ?? false { changed[.main] = "\(isMain)" }
        if hostDeaths != nil, isolation == .process { changed[.isolation] = "\"process\"" }
        for member in value.members {
            guard changed.keys.allSatisfy({ $0.rawValue != member.key }) else { continue }
            json.member(member.key, unfilled: member.value)
        }
        for (key, text) in changed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            json.member(key.rawValue, raw: text.utf8)
        }
        for (key, text) in defaults(in: slatefile)
        where value[key.rawValue] == nil && changed[key] == nil {
            json.member(key.rawValue, raw: text.utf8)
        }
    }

    /// The values of the keys that have a default, as JSON.
    private func defaults(in slatefile: Slatefile) -> [(ModuleKey, String)] {
        let deadline = deadline ?? slatefile.deadlines.event
        var isProgram = isolation == .process
        if case .command = implementation { isProgram = true }
        return [
            (.enabled, "true"), (.required, "false"), (.retry, "false"), (.main, "false"),
            (.deadline, "\"\(DurationReader.text(of: deadline))\""), (.backlog, "\(backlog)"),
            (.keep, "\"\(ByteSize.text(of: keep, between: ""))\""),
            (.replace, "\"\(replacement.rawValue)\""),
        ] + (ends ? [] : [(.launch, "\"\(launch.rawValue)\"")])
            + (isProgram
                ? [(.killAfter, "\"\(DurationReader.text(of: killAfter ?? deadline * 2))\"")] : [])
    }
}

extension Slatefile.Startup {
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            if let width { $0.member(StartupKey.width.rawValue, width) }
            $0.member(StartupKey.deadline.rawValue, DurationReader.text(of: deadline))
        }
    }
}

extension Slatefile.Deadlines {
    fileprivate func writeDurations(to json: inout JSONWriter) {
        json.object {
            for (key, time) in [
                (DeadlineKey.event, event), (.call, call), (.launch, launch), (.stop, stop),
                (.stopAll, stopAll),
            ] {
                $0.member(key.rawValue, DurationReader.text(of: time))
            }
        }
    }
}

extension Slatefile.SignalAction {
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            switch self {
            case .reload: $0.member(SignalKey.event.rawValue, Slatefile.reload)
            case .event(let kind, let payload):
                $0.member(SignalKey.event.rawValue, kind.rawValue)
                if let payload { $0.member(SignalKey.payload.rawValue, unfilled: payload) }
            case .openURL(let url):
                $0.member(SignalKey.event.rawValue, EventKind.openURL.rawValue)
                $0.member(SignalKey.url.rawValue, url)
            case .message(let topic, let payload):
                $0.member(SignalKey.event.rawValue, EventKind.message.rawValue)
                $0.member(SignalKey.topic.rawValue, topic)
                if let payload { $0.member(SignalKey.payload.rawValue, unfilled: payload) }
            }
        }
    }
}

extension JSONWriter {
    /// Writes a member whose value is given, on one line and without the values of variables.
    fileprivate mutating func member(_ key: String, unfilled value: JSONValue) {
        // Read again without an environment, so that it is the text as it is written.
        guard let written = try? JSONValue(parsing: Array(value.textBytes)) else { return }
        member(key, written)
    }
}

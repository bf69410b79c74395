extension Slatefile {
    /// The format as a JSON Schema (2020-12), for editors: the output of `hostd schema`, and the content of
    /// `slatefile.schema.json`.
    ///
    /// Looser than ``read(_:path:environment:checkEntry:)`` where a schema cannot express a rule: that ids
    /// are unique, that one module is main, which payload an event takes.
    package static let jsonSchema: String = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "Slatefile",
          "description": "An app for hostd: its modules and how they live. Format version 1.",
        \(members(of: AppKey.self, indent: "  ")),
          "$defs": {
            "duration": {
              "description": "A whole number and ms, s, m or h: more than nothing, at most 24h.",
              "type": "string",
              "pattern": \(quote(DurationReader.pattern))
            },
            "module": {
              "description": "A module of the app.",
        \(members(of: ModuleKey.self, indent: "      ")),
              "oneOf": [{ "required": ["entry"] }, { "required": ["command"] }]
            },
            "rewrite": {
              "description": "A pattern of URLs and what they become.",
        \(members(of: RewriteKey.self, indent: "      "))
            },
            "signal": {
              "description": "What a signal does.",
        \(members(of: SignalKey.self, indent: "      "))
            },
            "startup": {
              "description": "How start-up tasks run.",
        \(members(of: StartupKey.self, indent: "      "))
            },
            "deadlines": {
              "description": "How long modules may take.",
        \(members(of: DeadlineKey.self, indent: "      "))
            },
            "host": {
              "description": "The package ModuleHost for hostd compose.",
        \(members(of: HostKey.self, indent: "      "))
            },
            "security": {
              "description": "Access rules.",
        \(members(of: SecurityKey.self, indent: "      "))
            }
          }
        }

        """

    /// Returns the schema of an object with these keys and no others.
    private static func members<Key: SlatefileKey>(of type: Key.Type, indent: String) -> String {
        let properties = Key.allCases.map { "\(indent)  \(quote($0.rawValue)): { \($0.schema) }" }
        let required = Key.mandatory.map { quote($0.rawValue) }.joined(separator: ", ")
        return """
            \(indent)"type": "object",
            \(indent)"properties": {
            \(properties.joined(separator: ",\n"))
            \(indent)},
            """ + (required.isEmpty ? "" : "\n\(indent)\"required\": [\(required)],")
                + "\n\(indent)\"additionalProperties\": false"
    }

    /// Returns text as a JSON string; it needs no escapes but those of backslash and quote.
    fileprivate static func quote(_ text: String) -> String {
        var quoted = "\""
        for character in text {
            if character == "\\" || character == "\"" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted + "\""
    }
}

/// Returns the members of a schema, joined.
private func describe(_ about: String, _ members: String...) -> String {
    (["\"description\": \(Slatefile.quote(about))"] + members).joined(separator: ", ")
}

private let string = "\"type\": \"string\""
private let text = "\"type\": \"string\", \"minLength\": 1"
private let uri = "\"type\": \"string\", \"pattern\": \"^[A-Za-z][A-Za-z0-9+.-]*:\""
private let object = "\"type\": \"object\""
private let sourceText = text + ", \"maxLength\": \(Slatefile.Limits.sourceLength)"
private let referenceText = text + ", \"maxLength\": \(Slatefile.Limits.referenceLength)"

private func pattern(_ pattern: String) -> String {
    "\"type\": \"string\", \"pattern\": \(Slatefile.quote(pattern))"
}

private func flag(_ value: Bool) -> String { "\"type\": \"boolean\", \"default\": \(value)" }

private func words(_ words: [String], default: String? = nil) -> String {
    "\"enum\": [\(words.map(Slatefile.quote).joined(separator: ", "))]"
        + (`default`.map { ", \"default\": \(Slatefile.quote($0))" } ?? "")
}

private func integer(_ range: ClosedRange<Int>, default: Int? = nil) -> String {
    "\"type\": \"integer\", \"minimum\": \(range.lowerBound), \"maximum\": \(range.upperBound)"
        + (`default`.map { ", \"default\": \($0)" } ?? "")
}

private func reference(_ name: String) -> String { "\"$ref\": \"#/$defs/\(name)\"" }

private func duration(_ value: Duration? = nil) -> String {
    reference("duration")
        + (value.map { ", \"default\": \"\(DurationReader.text(of: $0))\"" } ?? "")
}

private func array(_ element: String, atLeast least: Int = 0, atMost most: Int) -> String {
    "\"type\": \"array\", \"items\": { \(element) }"
        + (least > 0 ? ", \"minItems\": \(least)" : "") + ", \"maxItems\": \(most)"
}

extension AppKey {
    var schema: String {
        switch self {
        case .schema: describe("Where this schema is, for editors.", string)
        case .slate: describe("The version of the format.", "\"const\": 1")
        case .app:
            describe(
                "The app's name.", text, "\"maxLength\": \(Slatefile.Limits.nameLength)")
        case .schemes:
            describe(
                "The schemes of the app's URLs; case does not matter.",
                array(pattern(SlatefileReader.schemePattern), atMost: Slatefile.Limits.list),
                "\"uniqueItems\": true")
        case .config:
            describe(
                "Settings that every module may read. ${NAME} in a string is taken from the "
                    + "environment; $${ is a literal ${.", object)
        case .modules:
            describe(
                "The modules, in the order in which they respond. One of them is main.",
                array(reference("module"), atLeast: 1, atMost: Slatefile.Limits.modules))
        case .fallback:
            describe(
                "The id of the module that answers URLs that no other module answers.",
                pattern(ModuleID.pattern))
        case .rewrites:
            describe(
                "The rewrites applied to URLs before routing, in order.",
                array(reference("rewrite"), atMost: Slatefile.Limits.rewrites))
        case .signals:
            describe(
                "What UNIX signals do. Without it TERM and INT end the app, HUP reads this file "
                    + "again, USR1 and USR2 are background and foreground.", object,
                "\"patternProperties\": "
                    + "{ \(Slatefile.quote(SignalName.pattern)): { \(reference("signal")) } }",
                "\"additionalProperties\": false")
        case .startup: reference("startup")
        case .deadlines: reference("deadlines")
        case .security: reference("security")
        case .host: reference("host")
        case .logLevel:
            describe(
                "The least level that the log writes; the option --log-level takes precedence.",
                words(LogLevel.allCases.map(\.rawValue), default: LogLevel.info.rawValue))
        case .isolation:
            describe(
                "Which modules run in a process of their own: those that declare it, or also those "
                    + "that were running at two deaths of the host.",
                words(Slatefile.IsolationPolicy.allCases.map(\.rawValue), default: "declared"))
        }
    }
}

extension ModuleKey {
    var schema: String {
        switch self {
        case .id:
            describe(
                "A reverse-domain name, unique in the app: the host part of the module's URLs.",
                pattern(ModuleID.pattern), "\"maxLength\": 253")
        case .entry:
            describe(
                "The class of the module, with its target: Target.Type.",
                pattern(SlatefileReader.entryPattern))
        case .command:
            describe(
                "A program with its arguments, in place of an entry; it runs in a process of its "
                    + "own and speaks JSON-RPC.",
                array(string, atLeast: 1, atMost: Slatefile.Limits.list))
        case .enabled: describe("Whether the module runs.", flag(true))
        case .required:
            describe("Whether the app cannot run without the module.", flag(false))
        case .retry:
            describe(
                "Whether the module is restarted after it has failed in init or launch, unless it is "
                    + "required.", flag(false))
        case .ends:
            describe(
                "Whether the module is a program that ends by itself: with code 0 it is done, and modules "
                    + "that need it are made.", flag(false))
        case .replace:
            describe(
                "Whether a restart, or a reload that recreates the module, starts the new instance first, or "
                    + "stops the old one first: for a module that owns a port, a lock or a device.",
                words(
                    Slatefile.Replacement.allCases.map(\.rawValue),
                    default: Slatefile.Replacement.startFirst.rawValue))
        case .main:
            describe(
                "Whether the module supplies the root that is opened at the end of launch; true of "
                    + "exactly one.", flag(false))
        case .needs:
            describe(
                "The ids of the modules that this one needs: they stand before it, and where one of them "
                    + "has failed it is not made.",
                array(pattern(ModuleID.pattern), atMost: Slatefile.Limits.list),
                "\"uniqueItems\": true")
        case .launch:
            describe(
                "When the module is made: at launch, or lazy, when it is first needed.",
                words(
                    Slatefile.LaunchTime.allCases.map(\.rawValue),
                    default: Slatefile.LaunchTime.eager.rawValue))
        case .idle:
            describe(
                "How long a lazy module may be unused before it is unloaded; it is not by default.",
                duration())
        case .provides:
            describe(
                "The patterns of the routes of a command, so that a URL of one can make it.",
                array(text, atMost: Slatefile.Limits.list))
        case .events:
            describe(
                "The events that make a lazy command.",
                array(
                    words(EventKind.allCases.filter(Slatefile.declares).map(\.rawValue)),
                    atMost: Slatefile.Limits.list), "\"uniqueItems\": true")
        case .topics:
            describe(
                "The topics of the messages that make a lazy command, such as user.*.",
                array(text, atMost: Slatefile.Limits.list))
        case .instead:
            describe(
                "The URL that is opened when the module has failed, for a URL or a call with its id. "
                    + ":name is a parameter of the call, * its path below the module.", uri)
        case .deadline:
            describe(
                "How long the module may take over an event; deadlines.event by default.",
                duration())
        case .killAfter:
            describe(
                "When the module's process is killed; twice the deadline by default.", duration())
        case .isolation:
            describe(
                "Where the module runs: in the host, or in a process of its own.",
                words(Slatefile.Isolation.allCases.map(\.rawValue)))
        case .env:
            describe(
                "The names of the environment variables that the module's process gets.",
                array(pattern(ConfigExpansion.variablePattern), atMost: Slatefile.Limits.list))
        case .may:
            describe(
                "What the module's process may do beyond what all may. state: send events of the whole "
                    + "app, such as terminate and background. apply: have the host apply a slatefile.",
                array(
                    words(Slatefile.Permission.allCases.map(\.rawValue)),
                    atMost: Slatefile.Permission.allCases.count),
                "\"uniqueItems\": true")
        case .backlog:
            describe(
                "How many events the module may be behind in memory, with 16 MiB of payloads at most.",
                integer(Slatefile.Limits.backlog, default: Slatefile.Defaults.backlog))
        case .keep:
            describe(
                "How many bytes of the inbox may wait for the module, from 1MiB to 1024GiB; the oldest events beyond that are dead letters.",
                pattern(ByteSize.pattern)
                    + ", \"default\": \"\(ByteSize.text(of: Slatefile.Defaults.keep, between: ""))\""
            )
        case .logLevel:
            describe(
                "The least level that the log writes of the module; that of the host by default.",
                words(LogLevel.allCases.map(\.rawValue)))
        case .config:
            describe(
                "The module's own settings. ${NAME} in a string is taken from the environment; "
                    + "$${ is a literal ${.", object)
        case .git: describe("The repository of the module, for hostd compose.", sourceText)
        case .branch: describe("The branch of the repository.", referenceText)
        case .tag: describe("The tag of the repository.", referenceText)
        case .path:
            describe("The folder of the module, for hostd compose, in place of git.", sourceText)
        case .product:
            describe(
                "The library of the module's package, for hostd compose; by default the one with the "
                    + "entry's target.", referenceText)
        }
    }
}

extension HostKey {
    var schema: String {
        switch self {
        case .git: describe("The repository of the package ModuleHost.", sourceText)
        case .branch: describe("The branch of the repository.", referenceText)
        case .tag: describe("The tag of the repository.", referenceText)
        case .path: describe("The folder of the package, in place of git.", sourceText)
        }
    }
}

extension RewriteKey {
    var schema: String {
        switch self {
        case .from: describe("The pattern, with its scheme.", uri)
        case .to: describe("The URL that replaces a matching one.", uri)
        }
    }
}

extension SignalKey {
    var schema: String {
        switch self {
        case .event: describe("The event, or reload.", words(Slatefile.signalEvents))
        case .payload: describe("The payload of the event, if it takes one.")
        case .url: describe("The URL of open-url.", uri)
        case .topic: describe("The topic of message.", text)
        }
    }
}

extension StartupKey {
    var schema: String {
        switch self {
        case .width:
            describe(
                "How many tasks run at a time; as many as there are cores by default.",
                integer(Slatefile.Limits.width))
        case .deadline:
            describe(
                "The deadline of a task that declares none.",
                duration(Slatefile.Defaults.startup))
        }
    }
}

extension DeadlineKey {
    var schema: String {
        switch self {
        case .event:
            describe(
                "How long a module may take over an event.", duration(Slatefile.Defaults.event))
        case .call:
            describe(
                "How long an answer that comes later may take.", duration(Slatefile.Defaults.call))
        case .launch:
            describe(
                "How long a module may take to launch.", duration(Slatefile.Defaults.launch))
        case .stop:
            describe(
                "How long a module may take over each step of the stop.",
                duration(Slatefile.Defaults.stop))
        case .stopAll:
            describe(
                "How long the whole stop may take.", duration(Slatefile.Defaults.stopAll))
        }
    }
}

extension SecurityKey {
    var schema: String {
        switch self {
        case .tokens: describe("The file of tokens, mode 0600.", text)
        }
    }
}

import AppService

extension SlatefileReader {
    /// Returns the whole slatefile; nil where it is not valid, with the reasons among the diagnostics.
    mutating func slatefile() -> Slatefile? {
        var slatefile = Slatefile(app: "")
        slatefile.part = part
        var modules: Int?
        var fallback: Int?
        members(of: 0, as: AppKey.self, "an object") { reader, key, node in
            switch key {
            case .schema: _ = reader.string(node)
            case .slate: reader.version(node)
            case .app: slatefile.app = reader.appName(node) ?? ""
            case .schemes: slatefile.schemes = reader.schemes(node)
            case .config: slatefile.config = reader.config(node)
            case .modules: modules = node
            case .fallback: fallback = node
            case .rewrites: slatefile.rewrites = reader.rewrites(node)
            case .signals: reader.signals(node, into: &slatefile.signals)
            case .startup: slatefile.startup = reader.startup(node)
            case .deadlines: slatefile.deadlines = reader.deadlines(node)
            case .security: slatefile.security = reader.security(node)
            case .logLevel:
                slatefile.logLevel = reader.word(node, as: LogLevel.self) ?? slatefile.logLevel
            case .host: slatefile.host = reader.host(node)
            case .isolation:
                slatefile.isolation =
                    reader.word(node, as: Slatefile.IsolationPolicy.self) ?? .declared
            }
        }
        // Last, since they depend on the other members, wherever those stand.
        if let modules {
            slatefile.modules = self.modules(modules, of: slatefile, fallback: fallback) {
                slatefile.fallback = $0
            }
        }
        if areModulesValid {
            checkInstead(of: slatefile)
            for use in uses where hasRoom {
                for reason in use.check(slatefile) { report(.entry(reason), at: use.entry) }
            }
        }
        return slatefile
    }

    private mutating func version(_ node: Int) {
        let value = value(node)
        guard value.kind == .number else {
            return mismatch("the version of the format, 1", at: node)
        }
        if value.int != 1 { report(.unsupportedVersion(value.text), at: node) }
    }

    private mutating func appName(_ node: Int) -> String? {
        guard let name = string(node) else { return nil }
        let isVisible = name.unicodeScalars.allSatisfy { printable($0) == $0 }
        let isTrimmed = name.first?.isWhitespace == false && name.last?.isWhitespace == false
        if isVisible, isTrimmed, name.count <= Slatefile.Limits.nameLength { return name }
        report(.appName(name), at: node)
        return nil
    }

    private mutating func schemes(_ node: Int) -> [String] {
        var schemes: [String] = []
        var first: [String: Int] = [:]
        let limit = (Slatefile.Limits.list, "schemes" as StaticString)
        for element in elements(of: node, "an array of schemes", limit: limit) {
            guard let written = string(element) else { continue }
            let scheme = written.lowercased()
            if !Self.isScheme(written.utf8) {
                report(.malformedScheme(written), at: element)
            } else if let earlier = first[scheme] {
                let first = place(of: earlier)
                report(.repeatedScheme(written, first: first), at: element)
            } else {
                first[scheme] = element
                schemes.append(scheme)
            }
        }
        return schemes
    }

    /// The pattern of a scheme in RFC 3986, section 3.1.
    static let schemePattern = "^[A-Za-z][A-Za-z0-9+.-]*$"

    static func isScheme(_ text: some Collection<UInt8>) -> Bool {
        guard let first = text.first, 0x61...0x7A ~= first | 0x20, first >= 0x41 else {
            return false
        }
        return text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    mutating func config(_ node: Int) -> JSONValue? {
        if nodes[node].kind == .object { return value(node) }
        mismatch("an object", at: node)
        return nil
    }

    private mutating func rewrites(_ node: Int) -> [Slatefile.Rewrite] {
        let limit = (Slatefile.Limits.rewrites, "rewrites" as StaticString)
        // Only to check that each can be applied.
        var applied = RouteRewrites()
        var targets: [(rewrite: Slatefile.Rewrite, node: Int)] = []
        let rewrites = elements(of: node, "an array of rewrites", limit: limit).map { element in
            var rewrite = Slatefile.Rewrite(from: "", to: "")
            var from: Int?
            var to: Int?
            members(of: element, as: RewriteKey.self, "a rewrite: an object") { reader, key, node in
                guard let url = reader.url(node) else { return }
                switch key {
                case .from: (rewrite.from, from) = (url, node)
                case .to: (rewrite.to, to) = (url, node)
                }
            }
            guard let from, let to else { return rewrite }
            do throws(RouteError) {
                try applied.add(rewrite)
                targets.append((rewrite, to))
            } catch {
                report(.rewrite(error), at: error.isOfTarget ? to : from)
            }
            return rewrite
        }
        // Each rewrite of a circle leads into the same one, which is reported once.
        var circles: Set<Set<String>> = []
        for (rewrite, node) in targets {
            guard let circle = applied.circle(from: rewrite) else { continue }
            if case .rewriteLoop(let urls) = circle, !circles.insert(Set(urls)).inserted {
                continue
            }
            report(.rewrite(circle), at: node)
        }
        return rewrites
    }

    /// Returns a string that begins with a scheme and a colon; the router checks the rest.
    mutating func url(_ node: Int) -> String? {
        guard let text = nonEmptyString(node, "a URL") else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")),
            Self.isScheme(text.utf8.prefix { $0 != UInt8(ascii: ":") })
        {
            return text
        }
        report(.noScheme(text), at: node)
        return nil
    }

    private mutating func startup(_ node: Int) -> Slatefile.Startup {
        var startup = Slatefile.Startup()
        members(of: node, as: StartupKey.self, "an object") { reader, key, node in
            switch key {
            case .width: startup.width = reader.integer(node, in: Slatefile.Limits.width)
            case .deadline: startup.deadline = reader.duration(node) ?? startup.deadline
            }
        }
        return startup
    }

    private mutating func deadlines(_ node: Int) -> Slatefile.Deadlines {
        var deadlines = Slatefile.Deadlines()
        members(of: node, as: DeadlineKey.self, "an object") { reader, key, node in
            guard let duration = reader.duration(node) else {
                if key == .event { reader.isEventDeadlineValid = false }
                return
            }
            switch key {
            case .event: deadlines.event = duration
            case .call: deadlines.call = duration
            case .launch: deadlines.launch = duration
            case .stop: deadlines.stop = duration
            case .stopAll: deadlines.stopAll = duration
            }
        }
        return deadlines
    }

    private mutating func security(_ node: Int) -> Slatefile.Security {
        var security = Slatefile.Security()
        members(of: node, as: SecurityKey.self, "an object") { reader, key, node in
            switch key {
            case .tokens:
                security.tokens = reader.nonEmptyString(node, "the path of the tokens")
                security.tokensPlace = reader.place(of: node)
            }
        }
        return security
    }
}

extension RouteError {
    /// Whether the error concerns the `to` of a rewrite.
    fileprivate var isOfTarget: Bool {
        switch self {
        case .rewrite(_, _, .target), .rewrite(_, _, .unboundName), .rewrite(_, _, .token): true
        default: false
        }
    }
}

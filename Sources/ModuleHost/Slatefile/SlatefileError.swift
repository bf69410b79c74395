/// The faults of a slatefile, or of its file of tokens, in the order of the file.
public struct SlatefileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path as it was given.
    public let path: String
    /// The faults, sorted by place; never empty, and at most a thousand.
    public let faults: [SlatefileFault]

    /// The faults as ``rendered(colored:)`` shows them, without colours.
    public var description: String { rendered(colored: false) }

    /// Every fault as a compiler would show it, and a line that counts them.
    ///
    /// ```text
    /// slatefile.json:3:3: error: unknown key 'modlues'; did you mean 'modules'?
    ///   3 |   "modlues": [
    ///     |   ^
    /// 1 fault in slatefile.json
    /// ```
    ///
    /// - Parameter colored: Whether to use the colours of a terminal.
    /// - Returns: The lines, each with its end.
    public func rendered(colored: Bool) -> String { text(colored: colored).string }

    /// The same for a terminal.
    func text(colored: Bool) -> TerminalText {
        let name = excerpt(path, limit: 4096)
        func paint(_ text: TerminalText, _ code: String) -> TerminalText {
            colored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
        var text: TerminalText = ""
        for fault in faults {
            let number = "\(fault.place.line)"
            let margin = String(repeating: " ", count: number.count)
            text += paint("\(name):\(number):\(fault.place.column):", "1")
            text += " \(paint("error:", "1;31")) \(fault.message)\n"
            guard !fault.source.line.isEmpty else { continue }
            // The marker has a tab for each tab of the line.
            text += "  \(number) | \(TerminalText(lines: fault.source.line))\n"
            text += "  \(margin) | \(paint(TerminalText(lines: fault.source.marker), "1;32"))\n"
        }
        let count = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
        let isFull = faults.count >= Slatefile.Limits.faults
        return text + "\(count) in \(name)\(isFull ? "; there may be more" : "")\n"
    }
}

/// One fault of a slatefile: where it is, what is wrong, and what would be right.
public struct SlatefileFault: Hashable, Sendable {
    /// The kind of fault.
    package let kind: Kind
    /// The value it concerns as a JSON Pointer (RFC 6901), such as `/modules/2/id`.
    public let pointer: String
    /// Its place in the file.
    public let place: TextPlace
    /// The line it stands on, cut to what fits.
    let source: SourceExcerpt

    /// The fault in words, without its place.
    public var message: String { kind.description }

    /// The kinds of fault, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        /// A fault of JSON itself, an unknown or missing key, a value of the wrong type.
        case json(JSONFault.Kind)
        /// Another version of the format than 1.
        case unsupportedVersion(String)
        /// No name that an app could have.
        case appName(String)
        /// No scheme by the rules of RFC 3986.
        case malformedScheme(String)
        /// A scheme that is there already, at `first`.
        case repeatedScheme(String, first: TextPlace)
        /// No module id.
        case malformedID(ModuleID.Fault)
        /// An id that a module has already, at `first`.
        case repeatedID(String, first: TextPlace)
        /// An id that no module has; `nearest` is the one it most resembles.
        case unknownModule(String, nearest: String?)
        /// A module that has to run and is not enabled.
        case disabledModule(String)
        /// No enabled module is the main one; `disabled` is one that would be.
        case noMain(disabled: String?)
        /// A second main module; the first stands at `first`.
        case secondMain(first: TextPlace)
        /// Both an entry and a command.
        case entryAndCommand
        /// Neither an entry nor a command.
        case noImplementation
        /// An entry that names no top-level class.
        case malformedEntry(String)
        /// The entry's own check failed.
        case entry(String)
        /// A command that is to run inside of the host.
        case commandInside
        /// Permissions for a process of a module that has none.
        case permissionsInside
        /// A word that is in the list already.
        case repeatedWord(String)
        /// No duration.
        case duration(DurationFault)
        /// A number outside of what is allowed.
        case outOfRange(String, allowed: ClosedRange<Int>)
        /// A word that is none of those allowed; `nearest` is the one it most resembles.
        case unknownWord(String, allowed: [String], nearest: String?)
        /// A process killed before its module is even overdue.
        case killAfterTooShort(killAfter: Duration, deadline: Duration)
        /// An empty string where there must be something; the value says what.
        case empty(String)
        /// A name that no environment variable can have.
        case variableName(String)
        /// `${NAME}` of a variable that is not set.
        case unsetVariable(String)
        /// `${` without a name and `}`.
        case malformedVariable
        /// Settings of a source that exclude each other, or lack each other.
        case source(String)
        /// An end of a rewrite that has no scheme.
        case noScheme(String)
        /// A rewrite that cannot be applied.
        case rewrite(RouteError)
        /// No signal that ends the app.
        case noStopSignal
        /// A URL to open that is none.
        case url(URLFault)
        /// A signal that does not exist or cannot be had.
        case signal(SignalName.Fault)
        /// An event that does not exist; `nearest` is the one it most resembles.
        case unknownEvent(String, nearest: String?)
        /// An event that only the host gives.
        case hostEvent(EventKind)
        /// A key that does not go with the event.
        case keyNotTaken(String, EventKind)
        /// A key that the event needs.
        case keyNeeded(String, EventKind)
        /// A fault of the file of tokens.
        case token(TokenFault)
        /// More of something than there may be.
        case tooMany(String, limit: Int)
    }
}

extension SlatefileFault.Kind: CustomStringConvertible {
    /// The fault in words, with its remedy where there is one.
    package var description: String {
        switch self {
        case .json(let kind): return kind.description
        case .unsupportedVersion(let text):
            return "this is a slatefile of version \(excerpt(text)); this hostd reads version 1"
        case .appName(let name):
            return "an app's name has 1 to \(Slatefile.Limits.nameLength) characters, "
                + "no control characters and no space around it: \(quoted(name))"
        case .malformedScheme(let scheme):
            return "\(quoted(scheme)) is not a scheme; "
                + "one is a letter, then letters, digits, '+', '-' or '.', such as \"slate\""
        case .repeatedScheme(let scheme, let first):
            return "scheme \(quoted(scheme)) is here already, at \(first)"
        case .malformedID(let fault): return fault.description
        case .repeatedID(let id, let first):
            return "module id \(quoted(id)) is taken already, at \(first)"
        case .unknownModule(let id, let nearest):
            return "no module \(quoted(id))" + question(nearest)
        case .disabledModule(let id): return "module \(quoted(id)) is not enabled"
        case .noMain(nil):
            return "no module is the main one; say \"main\": true on the one with the root"
        case .noMain(let disabled?):
            return "the main module \(quoted(disabled)) is not enabled, and no other is main"
        case .secondMain(let first):
            return "only one module can be the main one; the first is at \(first)"
        case .entryAndCommand: return "give either 'entry' or 'command', not both"
        case .noImplementation:
            return "a module needs an 'entry' such as \"Modules.PushModule\", or a 'command'"
        case .malformedEntry(let entry):
            return "\(quoted(entry)) is not an entry; "
                + "one is \"Target.Type\", a top-level class and its target"
        case .entry(let reason): return reason
        case .commandInside: return "a command always runs in a process of its own"
        case .permissionsInside:
            return "'may' is for modules in a process of their own: "
                + "add \"isolation\": \"process\", or remove it"
        case .repeatedWord(let word): return "\(quoted(word)) is in the list already"
        case .duration(let fault): return fault.description
        case .outOfRange(let text, let allowed):
            return "\(excerpt(text)) is not in \(allowed.lowerBound)...\(allowed.upperBound)"
        case .unknownWord(let word, let allowed, let nearest):
            let words = allowed.map { "\"\($0)\"" }.joined(separator: " or ")
            return "expected \(words), found \(quoted(word))" + question(nearest)
        case .killAfterTooShort(let killAfter, let deadline):
            return
                "'killAfter' (\(DurationReader.text(of: killAfter))) is shorter than the deadline "
                + "(\(DurationReader.text(of: deadline))): the module would be killed before it is unresponsive"
        case .empty(let what): return "\(what) cannot be empty"
        case .variableName(let name):
            return "\(quoted(name)) is not the name of an environment variable"
        case .unsetVariable(let name):
            return "environment variable \(quoted(name)) is not set"
        case .malformedVariable:
            return "a variable is written \"${NAME}\"; for a literal \"${\" write \"$${\""
        case .source(let reason): return reason
        case .noScheme(let text):
            return "\(quoted(RouteToken.hide(in: text))) must begin with a scheme, "
                + "such as \"slate://\""
        // Which one it is, its place says.
        case .rewrite(.rewrite(_, _, let fault)): return fault.description
        case .rewrite(let error): return error.description
        case .url(let fault): return fault.description
        case .signal(let fault): return fault.description
        case .noStopSignal:
            return "no signal stops the app, neither TERM nor INT nor another; "
                + "give one of them \"event\": \"terminate\""
        case .unknownEvent(let name, let nearest):
            return "no event \(quoted(name))" + question(nearest)
        case .hostEvent(let event): return "only the host itself gives '\(event.rawValue)'"
        case .keyNotTaken(let key, let event): return "event '\(event.rawValue)' takes no '\(key)'"
        case .keyNeeded(let key, let event): return "event '\(event.rawValue)' needs a '\(key)'"
        case .token(let fault): return fault.description
        case .tooMany(let what, let limit): return "more than \(limit) \(what)"
        }
    }

    private func question(_ nearest: String?) -> String {
        nearest.map { "; did you mean \(quoted($0))?" } ?? ""
    }
}

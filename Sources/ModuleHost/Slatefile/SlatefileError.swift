/// The diagnostics of a slatefile, or of its file of tokens, in the order of the file.
public struct SlatefileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path as it was given.
    public let path: String
    /// The diagnostics, sorted by place; never empty, and at most a thousand.
    package let diagnostics: [SlatefileDiagnostic]

    /// The diagnostics as ``rendered(colored:)`` shows them, without colors.
    public var description: String { rendered(colored: false) }

    /// Returns every diagnostic in the form of a compiler, and a line with their number.
    ///
    /// ```text
    /// slatefile.json:3:3: error: unknown key 'modlues'; did you mean 'modules'?
    ///   3 |   "modlues": [
    ///     |   ^
    /// 1 error in slatefile.json
    /// ```
    ///
    /// - Parameter colored: Whether to use the colors of a terminal.
    /// - Returns: The lines, each with its end.
    public func rendered(colored: Bool) -> String { text(colored: colored).string }

    /// Returns the same text for a terminal.
    func text(colored: Bool) -> TerminalText {
        let name = excerpt(path, limit: 4096)
        func paint(_ text: TerminalText, _ code: String) -> TerminalText {
            colored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
        var text: TerminalText = ""
        for diagnostic in diagnostics {
            let number = "\(diagnostic.place.line)"
            let margin = String(repeating: " ", count: number.count)
            text += paint("\(name):\(number):\(diagnostic.place.column):", "1")
            text += " \(paint("error:", "1;31")) \(diagnostic.message)\n"
            guard !diagnostic.source.line.isEmpty else { continue }
            // The marker has a tab for each tab of the line.
            text += "  \(number) | \(TerminalText(lines: diagnostic.source.line))\n"
            text +=
                "  \(margin) | \(paint(TerminalText(lines: diagnostic.source.marker), "1;32"))\n"
        }
        let count = diagnostics.count == 1 ? "1 error" : "\(diagnostics.count) errors"
        let isFull = diagnostics.count >= Slatefile.Limits.diagnostics
        return text + "\(count) in \(name)\(isFull ? "; there may be more" : "")\n"
    }
}

/// One diagnostic of a slatefile: the place, the problem, and the remedy.
package struct SlatefileDiagnostic: Hashable, Sendable {
    /// The kind of problem.
    package let kind: Kind
    /// The value it concerns as a JSON Pointer (RFC 6901), such as `/modules/2/id`.
    package let pointer: String
    /// The place in the file.
    package let place: TextPlace
    /// The line of the diagnostic, cut to a length that fits.
    let source: SourceExcerpt

    /// The message, without the place.
    package var message: String { kind.description }

    /// The kinds of problem, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        /// A problem of JSON itself, an unknown or missing key, a value of the wrong type.
        case json(JSONDiagnostic.Kind)
        /// The version of the format is not 1.
        case unsupportedVersion(String)
        /// The name is not valid for an app.
        case appName(String)
        /// The scheme is not valid according to RFC 3986.
        case malformedScheme(String)
        /// The scheme is in the list already, at `first`.
        case repeatedScheme(String, first: TextPlace)
        /// The module id is not valid.
        case malformedID(ModuleID.ParsingError)
        /// A module has this id already, at `first`.
        case repeatedID(String, first: TextPlace)
        /// No module has this id; `nearest` is the most similar id.
        case unknownModule(String, nearest: String?)
        /// The module has to run and is not enabled.
        case disabledModule(String)
        /// The module needs itself.
        case needOfItself
        /// Modules need each other: the ids of a circle, which ends where it begins.
        case needsInCircle([String])
        /// The needed module stands after the one that needs it; with an order that would do, for the first such
        /// diagnostic alone.
        case needStandsLater(String, order: [String])
        /// No enabled module is the main one; `disabled` is a module that would be.
        case noMain(disabled: String?)
        /// There is a second main module; the first stands at `first`.
        case secondMain(first: TextPlace)
        /// The module has both an entry and a command.
        case entryAndCommand
        /// The module has neither an entry nor a command.
        case noImplementation
        /// The entry does not name a top-level class.
        case malformedEntry(String)
        /// The entry's own check failed.
        case entry(String)
        /// A command is to run inside the host.
        case commandInside
        /// A module without a process of its own has permissions for one.
        case permissionsInside
        /// The word is in the list already.
        case repeatedWord(String)
        /// The duration is not valid.
        case duration(DurationError)
        /// The number is outside the allowed range.
        case outOfRange(String, allowed: ClosedRange<Int>)
        /// The text is not a size, or outside the allowed range.
        case size(String, allowed: ClosedRange<Int>)
        /// The word is not allowed; `nearest` is the most similar allowed word.
        case unknownWord(String, allowed: [String], nearest: String?)
        /// The process would be killed before its module is even overdue.
        case killAfterTooShort(killAfter: Duration, deadline: Duration)
        /// A required string is empty; the value names it.
        case empty(String)
        /// The key is one of other programs; with what to write instead.
        case foreignKey(String, String)
        /// `env` has values, and not only names.
        case variableValues
        /// The name is not valid for an environment variable.
        case variableName(String)
        /// `${NAME}` names a variable that is not set.
        case unsetVariable(String)
        /// `${NAME}` names a variable whose value is not UTF-8.
        case variableNotUTF8(String)
        /// `${` is not followed by a name and `}`.
        case malformedVariable
        /// A lazy module cannot have a setting; with the reason, and what to do.
        case lazy(String)
        /// `idle` of a module that is made at launch.
        case idleEager
        /// A class has keys that declare the uses of a command.
        case declaredByClass(String)
        /// The event cannot make a module.
        case makesNoModule(EventKind)
        /// The pattern of a route is not valid.
        case pattern(RoutePatternError)
        /// Settings of a source exclude or require each other.
        case source(String)
        /// A URL of a rewrite has no scheme.
        case noScheme(String)
        /// The rewrite cannot be applied.
        case rewrite(RouteError)
        /// The URL that is opened instead of a failed module is not valid.
        case instead(RouteError.RewriteError)
        /// The URLs that are opened instead of failed modules lead in a circle: the ids, which end where they begin.
        case insteadInCircle([String])
        /// No signal ends the app.
        case noStopSignal
        /// The URL to open is not valid.
        case url(RouteURLError)
        /// The signal does not exist, or is not available.
        case signal(SignalName.ParsingError)
        /// The event does not exist; `nearest` is the most similar name.
        case unknownEvent(String, nearest: String?)
        /// Only the host sends the event.
        case hostEvent(EventKind)
        /// The key does not apply to the event.
        case keyNotTaken(String, EventKind)
        /// The event needs this key.
        case keyNeeded(String, EventKind)
        /// A problem in the file of tokens.
        case token(TokenError)
        /// A list is longer than its limit.
        case tooMany(String, limit: Int)
    }
}

extension SlatefileDiagnostic.Kind: CustomStringConvertible {
    /// The message, with the remedy where there is one.
    package var description: String {
        switch self {
        case .json(let kind): return kind.description
        case .unsupportedVersion(let text):
            return "this is a slatefile of version \(excerpt(text)); this program reads version 1"
        case .appName(let name):
            return "an app's name has 1 to \(Slatefile.Limits.nameLength) characters, "
                + "no control characters and no space around it: \(quoted(name))"
        case .malformedScheme(let scheme):
            return "\(quoted(scheme)) is not a scheme; "
                + "one is a letter, then letters, digits, '+', '-' or '.', such as \"slate\""
        case .repeatedScheme(let scheme, let first):
            return "scheme \(quoted(scheme)) is here already, at \(first)"
        case .malformedID(let error): return error.description
        case .repeatedID(let id, let first):
            return "module id \(quoted(id)) is already used at \(first)"
        case .unknownModule(let id, let nearest):
            return "no module \(quoted(id))" + question(nearest)
        case .disabledModule(let id): return "module \(quoted(id)) is not enabled"
        case .needOfItself: return "a module cannot need itself"
        case .needsInCircle(let ids):
            return "modules need each other: \(ids.map { excerpt($0) }.joined(separator: " → ")); "
                + "leave one of these needs out"
        case .needStandsLater(let id, let order):
            let offer = order.map { excerpt($0) }.joined(separator: ", ")
            return "module \(quoted(id)) stands later; move it before this one, which needs it"
                + (order.isEmpty ? "" : ". This order would do: \(offer)")
        case .noMain(nil):
            return "no main module; set \"main\": true on the module with the root"
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
        case .duration(let error): return error.description
        case .size(let text, let allowed):
            return
                "expected a size from \"\(ByteSize.text(of: allowed.lowerBound, between: ""))\" to "
                + "\"\(ByteSize.text(of: allowed.upperBound, between: ""))\", such as \"512MiB\", found \(quoted(text))"
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
        case .foreignKey(let key, let remedy): return "unknown key \(quoted(key)); \(remedy)"
        case .variableValues:
            return
                "'env' is an array with the names of the host's variables that the module's process gets; "
                + #"to set a value, put ["env", "NAME=value", …] in front of the command"#
        case .variableName(let name):
            return "\(quoted(name)) is not the name of an environment variable"
                + (name.contains("=")
                    ? "; to set a value, put [\"env\", \"\(excerpt(name))\", …] in front of the command"
                    : "")
        case .unsetVariable(let name):
            return "environment variable \(quoted(name)) is not set"
        case .variableNotUTF8(let name):
            return "environment variable \(quoted(name)) is not UTF-8; set it to text in UTF-8"
        case .malformedVariable:
            return "a variable is written \"${NAME}\"; for a literal \"${\" write \"$${\""
        case .lazy(let reason): return reason
        case .idleEager:
            return "'idle' is for modules that are made when they are needed: "
                + "add \"launch\": \"lazy\", or remove it"
        case .declaredByClass(let key):
            return "'\(key)' is for a command: the class of an entry declares it; remove it"
        case .makesNoModule(let event):
            return
                "event '\(event.rawValue)' makes no module; leave it out: once the module is made, it "
                + "receives what it declares itself"
        case .pattern(let error): return error.description
        case .source(let reason): return reason
        case .noScheme(let text):
            return "\(quoted(RouteToken.hide(in: text))) must begin with a scheme, "
                + "such as \"slate://\""
        // The place of the diagnostic shows which one it is.
        case .rewrite(.rewrite(_, _, let error)): return error.description
        case .rewrite(let error): return error.description
        case .instead(.target(let error)): return "'instead' is a \(error)"
        case .instead(.token):
            return "'instead' has the query item 'token', which only callers give; leave it out"
        case .instead:
            return "a ':' in 'instead' has no name after it; for the sign itself write %3A"
        case .insteadInCircle(let ids) where ids.count == 2:
            return
                "'instead' leads back to \(ids[0]) itself, which has failed when it is opened; name another place"
        case .insteadInCircle(let ids):
            return "'instead' leads in a circle: \(ids.prefix(20).joined(separator: " → "))"
        case .url(let error): return error.description
        case .signal(let error): return error.description
        case .noStopSignal:
            return "no signal stops the app, neither TERM nor INT nor another; "
                + "give one of them \"event\": \"terminate\""
        case .unknownEvent(let name, let nearest):
            return "no event \(quoted(name))" + question(nearest)
        case .hostEvent(let event): return "only the host itself gives '\(event.rawValue)'"
        case .keyNotTaken(let key, let event): return "event '\(event.rawValue)' takes no '\(key)'"
        case .keyNeeded(let key, let event): return "event '\(event.rawValue)' needs a '\(key)'"
        case .token(let error): return error.description
        case .tooMany(let what, let limit): return "more than \(limit) \(what)"
        }
    }

    private func question(_ nearest: String?) -> String {
        nearest.map { "; did you mean \(quoted($0))?" } ?? ""
    }
}

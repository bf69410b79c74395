/// The outcome of a sent event, as text, JSON and exit code.
struct SendOutcome {
    let text: String
    let json: String
    let exitCode: ExitCode

    /// - Parameters:
    ///   - answer: The result of the method `send`.
    ///   - isWaitedFor: Whether the caller waited for the delivery.
    init(_ answer: JSONValue, isWaitedFor: Bool) {
        text = Self.text(of: answer)
        json = answer.text
        exitCode = Self.exitCode(of: answer, isWaitedFor)
    }

    /// Creates the outcome of an event that is in the inbox already.
    static func duplicate(of id: String) -> SendOutcome {
        SendOutcome(duplicateText(id)) {
            $0.member("id", id)
            $0.member("duplicate", true)
        }
    }

    /// Creates the outcome of an event that was accepted, and that no host delivers yet.
    static func left(at position: EventPosition, id: String?) -> SendOutcome {
        SendOutcome(leftText(position.description)) {
            $0.member("id", id ?? position.description)
            $0.member("position", position.description)
            $0.member("left", true)
        }
    }

    private init(_ text: String, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object(write)
        self.text = text
        json = String(decoding: writer.bytes, as: UTF8.self)
        exitCode = .success
    }

    /// Prints the outcome, on one line: on stderr where stdout cannot be written.
    ///
    /// The exit code is that of the event, so that no caller sends it again because of its own stdout.
    func report(_ arguments: Arguments) -> ExitCode {
        let code =
            arguments.has("json")
            ? Console.write(json: "\(json)\n".utf8) : Console.write("\(text)\n")
        if code != .success { Console.printError("\(arguments.title): \(text)") }
        return exitCode
    }

    private static func exitCode(of answer: JSONValue, _ isWaitedFor: Bool) -> ExitCode {
        if answer["deadLetter"] != nil { return .failed }
        let isUndelivered =
            answer["ignored"] != nil
            || answer["outcome"]?["undelivered"] != nil
        if isUndelivered {
            let waits = answer["outcome"]?["waitsFor"] != nil
            return !isWaitedFor ? .success : waits ? .busy : .ignored
        }
        if let outcome = answer["outcome"] {
            let hasFailed = (outcome["failed"]?.int ?? 0) > 0 || outcome["failure"] != nil
            if hasFailed { return .failed }
            let isPending =
                (outcome["unresponsive"]?.int ?? 0) > 0
                || outcome["waitsFor"] != nil
            return isWaitedFor && isPending ? .busy : .success
        }
        let isOpen = answer["left"] != nil || answer["pending"] != nil
        return isWaitedFor && isOpen ? .busy : .success
    }

    private static func text(of answer: JSONValue) -> String {
        if answer["duplicate"]?.bool == true {
            let isPending = answer["pending"]?.bool == true
            return duplicateText(answer["id"]?.string ?? "")
                + (isPending ? ", and not every module has received it" : "")
        }
        // An event without a position was delivered at once.
        guard let position = answer["position"]?.string else {
            return answer["ignored"]?.string.map { "ignored: \($0)" } ?? "delivered"
        }
        if let outcome = answer["outcome"] {
            return "accepted \(position): \(parts(of: outcome).joined(separator: ", "))"
        }
        if let reason = answer["deadLetter"]?.string {
            return "accepted \(position), and moved to the dead letters: \(reason)"
        }
        return answer["left"] == nil ? "accepted \(position)" : leftText(position)
    }

    private static func duplicateText(_ id: String) -> String {
        "already there: id \(excerpt(id, limit: 200))"
    }

    private static func leftText(_ position: String) -> String {
        "accepted \(position): no host is ready; the next one delivers it"
    }

    private static func parts(of outcome: JSONValue) -> [String] {
        var parts: [String] = []
        if let module = outcome["claimedBy"]?.string { parts.append("claimed by \(module)") }
        if let reply = outcome["reply"] { parts.append("reply \(reply.text)") }
        if let failure = outcome["failure"]?.string { parts.append("not opened: \(failure)") }
        if let undelivered = outcome["undelivered"]?.string {
            parts.append(undelivered)
        }
        if parts.isEmpty {
            let count = outcome["delivered"]?.int ?? 0
            parts.append(count == 0 ? "no module" : count == 1 ? "1 module" : "\(count) modules")
        }
        let unresponsive = outcome["unresponsive"]
        let counts = [
            ("failed", outcome["failed"]), ("unresponsive", unresponsive),
            ("later", outcome["later"]),
        ]
        for (what, count) in counts {
            if let count = count?.int, count > 0 { parts.append("\(count) \(what)") }
        }
        if outcome["undelivered"] != nil { return parts }
        if let fetch = outcome["fetch"]?.string { parts.append(fetch) }
        if let failed = outcome["waitsFor"]?.elements.compactMap(\.string), !failed.isEmpty {
            parts.append("it waits for modules that do not run: \(failed.shortList())")
        }
        return parts
    }
}

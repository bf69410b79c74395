import AppService

/// The reason why a module in a process of its own did not fulfil a request.
enum IsolationError: Error, Hashable {
    /// The program cannot be started.
    case start([String], SystemError)
    /// There is no such program, or the file cannot be run as one; with the folder of the search.
    case noProgram(String, ProgramError, folder: String?)
    /// The process ended before it was ready.
    case notReady(ProcessExit)
    /// The process returned an error: its code, and its message.
    case answered(RPCErrorCode, String)
    /// The process ended during the request.
    case ended(ProcessExit)
    /// The process ended too often.
    case givenUp(deaths: Int, within: Duration, ProcessExit)
    /// This many of its processes ended in one event, which is not delivered to it again.
    case deadly(deaths: Int, ProcessExit)
    /// The process wants an event again that it cannot receive again, or after this time, which is not a number.
    case retry(EventKind, String?)
    /// The process is no longer restarted.
    case gone
    /// The call has arguments that are not text, and cannot leave this process.
    case objects([String])
}

extension IsolationError: CustomStringConvertible {
    var description: String {
        switch self {
        case .start(let command, let error):
            "cannot start \(quoted(command.first ?? "")): \(error)"
        case .noProgram(let name, let problem, let folder):
            Self.describe(name, problem, folder)
        case .notReady(let end): "\(end), before it was ready"
        case .answered(_, let message): message
        case .ended(let end): "\(end)"
        case .givenUp(let deaths, let time, let end):
            "\(end); it ended \(deaths) times within \(time.briefText), and is not restarted again"
        case .deadly(let deaths, let end):
            "\(end); \(deaths) processes ended at this event, which is not repeated again"
        case .retry(let kind, nil):
            "it answered '\(kind.rawValue)' with 'retryMs', which is for durable events that no module claims; the event is done"
        case .retry(_, let value?):
            "it answered with 'retryMs' \(value), which is not a whole number; the event is done"
        case .gone: "its process failed too often and is not restarted"
        case .objects(let names):
            "it runs in a process of its own, which objects do not reach: "
                + names.map { quoted($0) }.joined(separator: ", ")
        }
    }

    private static func describe(_ name: String, _ problem: ProgramError, _ folder: String?)
        -> String
    {
        let location =
            switch (name.first == "/", name.contains("/")) {
            case (true, _): ""
            case (_, true): folder.map { " in \(quoted($0))" } ?? ""
            case (_, false): " in PATH"
            }
        return switch problem {
        case .missing where name.contains(bytesOf: "${"):
            "there is no program \(quoted(name))\(location); variables are replaced in 'config' only: write "
                + #"["sh", "-c", "exec \"$NAME\" …"], and add the name to 'env'"#
        case .missing: "there is no program \(quoted(name))\(location)"
        case .notExecutable: "\(quoted(name))\(location) is not executable: it needs 'chmod +x'"
        case .noInterpreter(let interpreter):
            "the interpreter \(quoted(interpreter)) of \(quoted(name))\(location) does not exist: install it, "
                + "or correct the first line of the script"
        case .carriageReturn(let interpreter):
            "the interpreter line '#!\(excerpt(interpreter))' of \(quoted(name))\(location) ends with CR LF: "
                + "save the script with LF line ends"
        }
    }
}

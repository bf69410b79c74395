/// The `error` of a JSON-RPC 2.0 response.
public struct RPCError: Error, Hashable, Sendable {
    /// The kind of error.
    public let code: RPCErrorCode
    /// The message, on one line.
    public let message: String
    /// Details, such as the place in the request; a text in this implementation.
    public let detail: String?

    package init(_ code: RPCErrorCode, _ message: String, detail: String? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
    }

    // The standard's errors, with the standard's texts.

    /// The line is not JSON.
    static func parseError(_ detail: String) -> RPCError {
        RPCError(.parseError, "Parse error", detail: detail)
    }

    /// The line is JSON but not a request.
    static func invalidRequest(_ detail: String) -> RPCError {
        RPCError(.invalidRequest, "Invalid Request", detail: detail)
    }

    /// No method has this name.
    static func methodNotFound(_ detail: String) -> RPCError {
        RPCError(.methodNotFound, "Method not found", detail: detail)
    }

    /// The parameters do not fit the method.
    package static func invalidParameters(_ detail: String) -> RPCError {
        RPCError(.invalidParameters, "Invalid params", detail: detail)
    }

    /// Creates the error that refuses work for modules, while too much is in flight.
    static func overloaded(_ limits: InFlightBudget.Limits) -> RPCError {
        RPCError(
            .overloaded, "overloaded",
            detail:
                "events and calls of \(limits.all >> 20) MiB are accepted and not done; try again in "
                + limits.retry.briefText)
    }

    /// An error occurred that the caller did not cause.
    package static func internalError(_ detail: String) -> RPCError {
        RPCError(.internalError, "Internal error", detail: detail)
    }
}

extension RPCError: CustomStringConvertible {
    /// Message and detail on one line, such as `Invalid params: missing key 'url'`.
    public var description: String { detail.map { "\(message): \($0)" } ?? message }
}

/// The code of an ``RPCError``.
///
/// Those from −32768 to −32000 are the standard's, the last hundred of them reserved for servers. Another
/// host may use codes that this one does not know.
public struct RPCErrorCode: RawRepresentable, Hashable, Sendable {
    /// The number in the response.
    public let rawValue: Int

    /// Creates the code of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The request is not JSON.
    public static let parseError = Self(rawValue: -32700)
    /// The line is not a valid request.
    public static let invalidRequest = Self(rawValue: -32600)
    /// There is no such method.
    public static let methodNotFound = Self(rawValue: -32601)
    /// The method does not take these parameters.
    public static let invalidParameters = Self(rawValue: -32602)
    /// The app has an error that the caller did not cause.
    public static let internalError = Self(rawValue: -32603)

    /// The app is not ready yet, or is stopping.
    public static let notRunning = Self(rawValue: -32000)
    /// There is no such route, module or action, or none that this caller may reach; the error does not
    /// reveal which.
    public static let notFound = Self(rawValue: -32001)
    /// The caller does not have the permission: it is another user, or a module refuses the call.
    public static let notPermitted = Self(rawValue: -32002)
    /// The called module did not return in time, or is busy with other work beyond its deadline.
    public static let overdue = Self(rawValue: -32003)
    /// There are too many connections, or too many calls in one batch.
    public static let tooMany = Self(rawValue: -32004)
    /// The called module returned an error.
    public static let failed = Self(rawValue: -32005)
    /// The text to open is not a valid URL.
    public static let malformedURL = Self(rawValue: -32006)
    /// The parameters of the URL, or of the action, do not fit the route.
    public static let badParameter = Self(rawValue: -32007)
    /// The called module is not created yet, has failed, or was unloaded.
    public static let unavailable = Self(rawValue: -32008)

    /// The inbox did not accept an event, for example because the disk is full; no part of it is left.
    public static let notAccepted = Self(rawValue: -32009)

    /// Too many events and calls are in flight: further ones are refused.
    public static let overloaded = Self(rawValue: -32010)

    /// The caller cancelled the call.
    public static let cancelled = Self(rawValue: -32011)

    /// The table of every code that this host sends, with the exit code of a command that receives it.
    package static let exitCodes: [(code: RPCErrorCode, exit: ExitCode)] = [
        // The first two are never the user's mistake: the command wrote the request.
        (.parseError, .failed),
        (.invalidRequest, .failed),
        (.methodNotFound, .unavailable),
        (.invalidParameters, .usage),
        (.internalError, .failed),
        (.notRunning, .unavailable),
        (.notFound, .unavailable),
        (.notPermitted, .notPermitted),
        (.overdue, .busy),
        (.tooMany, .busy),
        (.failed, .failed),
        (.malformedURL, .usage),
        (.badParameter, .usage),
        (.unavailable, .unavailable),
        (.notAccepted, .inputOutput),
        (.overloaded, .busy),
        (.cancelled, .busy),
    ]

    /// The exit code of a command that gets this error; an unknown one counts as a failure.
    package var exitCode: ExitCode {
        Self.exitCodes.first { $0.code == self }?.exit ?? .failed
    }
}

extension Command {
    static let open = Command(
        name: "open", summary: "open a URL and print the reply",
        discussion: """
            A module may claim the URL; else it is a call of the route that matches it.
            """,
        operands: [.url], options: callOptions + [.traceparent], exitCodes: callExitCodes,
        exitMeanings: callExitMeanings,
        examples: [
            Example(
                line: "open 'slate://com.mm.community/userInfo?style=1&color=green'",
                explanation: "in quotes, for &")
        ],
        usageError: { tokenInURL($0) ?? traceError(in: $0) },
        run: { arguments in
            forward("open", arguments) { json, token in
                json.member("url", arguments.operands[0])
                if let token { json.member("token", token) }
            }
        })

    static let canOpen = Command(
        name: "canopen", summary: "check whether a route answers a URL",
        discussion: """
            Prints true and exits 0, or prints false and exits 69. Modules that claim URLs themselves are
            not asked: 'open' may still deliver a URL that no route answers. If a module has failed and the
            "instead" of its entry would be opened, a line on stderr names it.
            """,
        operands: [.url], options: callOptions, exitCodes: callExitCodes,
        exitMeanings: callExitMeanings,
        usageError: tokenInURL,
        run: { arguments in
            withToken(arguments) { token in
                HostCall.run(arguments) { call throws(HostClientError) in
                    let answer = try call.client.call("canopen") {
                        $0.object {
                            $0.member("url", arguments.operands[0])
                            if let token { $0.member("token", token) }
                            $0.member("explain", true)
                        }
                    }
                    let canOpen = answer["canOpen"] ?? answer
                    if let module = answer["instead"]?["module"]?.string,
                        let url = answer["instead"]?["url"]?.string
                    {
                        Console.printError("\(module) has failed; instead of it: \(url)")
                    }
                    return Console.write(
                        "\(canOpen.text)\n", then: canOpen.bool == true ? .success : .unavailable)
                }
            }
        })

    static let call = Command(
        name: "call", summary: "call an action of a module and print the reply",
        operands: [
            Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module"),
            Operand(placeholder: "ACTION", isRequired: true, help: "the name of the action"),
            Operand(placeholder: "JSON", help: "its parameters, an object (default: none)"),
        ],
        options: callOptions + [.traceparent], exitCodes: callExitCodes,
        exitMeanings: callExitMeanings, usageError: { traceError(in: $0) },
        run: { arguments in
            withJSON(arguments, at: 2) { parameters in
                if let parameters, parameters.kind != .object {
                    Console.printError(
                        "\(arguments.title): the parameters are \(parameters.inWords): give an object, such as "
                            + "'{\"name\": \"mia\"}'")
                    return .usage
                }
                return forward("call", arguments) { json, token in
                    json.member("module", arguments.operands[0])
                    json.member("action", arguments.operands[1])
                    if let parameters { json.member("parameters", raw: parameters.text.utf8) }
                    if let token { json.member("token", token) }
                }
            }
        })

    static let post = Command(
        name: "post", summary: "post a message on a topic",
        discussion: """
            The message reaches the modules that run now, and is not stored. 'send message' puts one into the
            inbox, which outlives the host.
            """,
        operands: [
            Operand(placeholder: "TOPIC", isRequired: true, help: "the topic, such as user.login"),
            Operand(placeholder: "JSON", help: "the message (default: null)"),
        ],
        options: [.slatefile, .stateDirectory, .traceparent], exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings, usageError: { traceError(in: $0) },
        run: { arguments in
            withJSON(arguments, at: 1) { payload in
                HostCall.run(arguments) { call throws(HostClientError) in
                    let result = try call.client.call("post", within: nil) {
                        $0.object {
                            $0.member("topic", arguments.operands[0])
                            if let payload { $0.member("payload", raw: payload.text.utf8) }
                            if let trace = arguments["traceparent"] {
                                $0.member("traceparent", trace)
                            }
                        }
                    }
                    // A message has no reply: there is output only where it failed.
                    return result.kind == .null ? .success : Console.write(json: result)
                }
            }
        })

    private static let callExitCodes = clientExitCodes + [.noInput]

    private static let callExitMeanings = clientExitMeanings.merging([
        .noInput: "the token file cannot be read, or has no token",
        .unavailable:
            "no host runs on the state directory, nothing answers to this name, or the app stopped before",
        .failed: "the module that was called failed",
        .busy: "the module that was called, or the host, is busy; try again",
        .notPermitted: "refused, the host is another user's, or the token file is open to others",
    ]) { $1 }

    private static let callOptions: [Option] = [
        .slatefile, .stateDirectory,
        Option(
            name: "token-file", placeholder: "FILE",
            help: "a private file whose first line is a token (default: $HOSTD_TOKEN)"),
    ]

    /// Calls a method with named parameters and prints the result; Ctrl-C cancels the call.
    private static func forward(
        _ method: String, _ arguments: Arguments,
        _ members: (inout JSONWriter, _ token: String?) -> Void
    ) -> ExitCode {
        withToken(arguments) { token in
            let interruptible = InterruptibleCall()
            let code = HostCall.run(arguments) { call throws(HostClientError) in
                // No limit on the wait: the host has deadlines of its own.
                let result = try interruptible.call(call.client, method) { json in
                    json.object {
                        members(&$0, token)
                        if let trace = arguments["traceparent"] { $0.member("traceparent", trace) }
                    }
                }
                if let module = result["claimedBy"]?.string {
                    // On stderr, since it is not a reply.
                    Console.printError("accepted by \(module), which sends no reply")
                    return .success
                }
                guard let reply = result["reply"] else { throw .malformed(call.directory) }
                return Console.write(json: reply)
            }
            return interruptible.end(with: code)
        }
    }

    /// Returns the error for an invalid `traceparent`.
    @Sendable static func traceError(in arguments: Arguments) -> String? {
        guard let text = arguments["traceparent"], TraceContext(text) == nil else { return nil }
        return "--traceparent expects \(TraceContext.expectation); found \(quoted(text))"
    }

    /// Runs `body` with the JSON text of an argument; nil where it is not given.
    private static func withJSON(
        _ arguments: Arguments, at index: Int, _ body: (JSONValue?) -> ExitCode
    ) -> ExitCode {
        guard arguments.operands.count > index else { return body(nil) }
        do throws(JSONError) {
            return body(try JSONValue(parameter: Array(arguments.operands[index].utf8)))
        } catch {
            Console.printError("\(arguments.title): the argument is not JSON: \(error)")
            return .usage
        }
    }

    /// Returns the error for a URL with a token in it: every user of the machine can read it.
    @Sendable private static func tokenInURL(_ arguments: Arguments) -> String? {
        hasToken(arguments.operands[0])
            ? "the URL has a token in it, which 'ps' shows to every user; "
                + "give it by --token-file or HOSTD_TOKEN"
            : nil
    }

    /// Returns whether a URL has a token in it.
    static func hasToken(_ url: String) -> Bool {
        do throws(RouteURLError) {
            return try RouteURL(url).query.contains { $0.name == "token" && !$0.value.isEmpty }
        } catch {
            // The host reports other errors, once there is nothing to hide.
            return RouteToken.hide(in: url) != url
        }
    }

    /// Runs `body` with the caller's token, if there is one.
    ///
    /// It is never an argument: those are visible to all users, by `ps`.
    private static func withToken(
        _ arguments: Arguments, _ body: (String?) -> ExitCode
    ) -> ExitCode {
        guard let path = arguments["token-file"] else {
            guard let text = CurrentProcess.environment()["HOSTD_TOKEN"], !text.isEmpty else {
                return body(nil)
            }
            if NonUTF8Variables.contain("HOSTD_TOKEN", text) {
                Console.printError(
                    "\(arguments.title): environment variable 'HOSTD_TOKEN' is not UTF-8")
                return .usage
            }
            if let token = onlyWord(of: text) { return body(token) }
            Console.printError(
                "\(arguments.title): HOSTD_TOKEN is not a token, which has no space in it")
            return .usage
        }
        do throws(FileReadError) {
            let bytes = try readFile(at: path, limit: 1 << 16, isSecret: true)
            let line = String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
            if let token = onlyWord(of: line) { return body(token) }
            Console.printError("\(arguments.title): \(path): the first line must be a token")
            return .noInput
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return error.reason == .notPrivate ? .notPermitted : .noInput
        }
    }

    /// Returns the only word of a text, with nothing but white space around it; else nil.
    private static func onlyWord(of text: some StringProtocol) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? String(words[0]) : nil
    }
}

extension Command.Operand {
    fileprivate static let url = Self(
        placeholder: "URL", isRequired: true, help: "the URL, in quotes")
}

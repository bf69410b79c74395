import Glibc

/// One thing that a module can do wrong.
struct Sin: Sendable {
    let name: String
    /// What the host asked when it happens.
    let moments: [Request.Method]
    let summary: String
    let commit: @Sendable (inout MisbehavingModule, Request) -> Answering

    /// What becomes of the request in which it happened.
    enum Answering {
        case asItShould
        case never
    }

    private init(
        _ name: String, _ moments: Request.Method..., does summary: String,
        _ commit: @escaping @Sendable (inout MisbehavingModule, Request) -> Answering
    ) {
        self.name = name
        self.moments = moments
        self.summary = summary
        self.commit = commit
    }

    static let all: [Sin] = [
        Sin("trap", .event, does: "traps, as Swift does") { _, _ in
            fatalError("trapped on demand")
        },
        Sin("abort", .event, does: "aborts") { _, _ in
            abort()
        },
        Sin("exit", .initialize, does: "exits with 0 and does not answer") { _, _ in
            exit(0)
        },
        Sin("exit-in-event", .event, does: "exits with 0") { _, _ in
            exit(0)
        },
        Sin("hang-initialize", .initialize, does: "neither reads nor writes any more") { _, _ in
            sleepForever()
        },
        Sin("hang-event", .event, does: "neither reads nor writes any more") { _, _ in
            sleepForever()
        },
        Sin("hang-call", .call, does: "neither reads nor writes any more") { _, _ in
            sleepForever()
        },
        Sin("hang-shutdown", .shutdown, does: "neither reads nor writes any more") { _, _ in
            sleepForever()
        },
        Sin("ignore-term", .initialize, .shutdown, does: "ignores SIGTERM, and does not end") {
            signal(SIGTERM, SIG_IGN)
            if $1.method == .shutdown { sleepForever() }
            return .asItShould
        },
        Sin("grandchild", .event, does: "starts one that sleeps, and exits with 1") { module, _ in
            let processID = startSleeper()
            module.note(#"{"grandchild":\#(processID)}"#)
            exit(1)
        },
        Sin("flood-stdout", .event, does: "logs and posts without end") { module, _ in
            module.flood = (.output, Message.log("flood") + Message.post("flood"))
            return .asItShould
        },
        Sin("flood-garbage", .event, does: "writes what is not JSON, without end") { module, _ in
            module.flood = (.output, "} no JSON {\n")
            return .asItShould
        },
        Sin("flood-stderr", .event, does: "writes to stderr without end") { module, _ in
            module.flood = (.error, "flood\n")
            return .asItShould
        },
        Sin("half-line", .event, does: "answers, writes half a line, and nothing any more") {
            $0.answer($1)
            if !$0.isSilent { Descriptor.output.write(#"{"jsonrpc":"2.0","method":"lo"#) }
            $0.isSilent = true
            return .never
        },
        Sin("long-line", .event, does: "logs a line of 2 MiB") { _, _ in
            Descriptor.output.write(Message.log(String(repeating: "x", count: 2 << 20)))
            return .asItShould
        },
        Sin("invalid-utf8", .event, does: "logs bytes that are not UTF-8") { _, _ in
            let bytes = Message.log("?").utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
            Descriptor.output.write(bytes)
            return .asItShould
        },
        Sin("wrong-version", .initialize, does: "speaks protocol 4") { module, _ in
            module.version = 4
            return .asItShould
        },
        Sin("wrong-id", .event, does: "answers another request, which there is not") {
            var other = $1
            other.id = "9\($1.id)"
            $0.answer(other)
            return .never
        },
        Sin("answer-twice", .event, does: "answers twice") {
            $0.answer($1)
            return .asItShould
        },
        Sin("hang-later", .event, does: "answers, says that it hangs, and does so") {
            $0.answer($1)
            Descriptor.output.write(Message.unresponsive)
            sleepForever()
        },
        Sin("answer-never", .event, does: "does not answer, but reads on") { _, _ in
            .never
        },
        Sin("wait-in-event", .event, does: "waits for the answer to a call that comes later") {
            if $1.event == "push" { $0.ask(Message.lateCall(id: "late", canWait: true)) }
            return .asItShould
        },
        Sin("call-at-once", .event, does: "calls a route that answers later, and cannot wait") {
            if $1.event == "push" { $0.ask(Message.lateCall(id: "now", canWait: false)) }
            return .asItShould
        },
        Sin("post-many", .event, does: "posts 200 messages, and waits for each response") {
            guard $1.event == "push" else { return .asItShould }
            for number in 0..<200 { $0.ask(Message.post("many", id: number)) }
            return .asItShould
        },
        Sin("close-stdout", .event, does: "closes its output, but reads on") { module, _ in
            close(Descriptor.output.number)
            module.isSilent = true
            return .never
        },
        Sin("eat-memory", .event, does: "keeps 64 MiB more for each, 1 GiB at most") { module, _ in
            module.eat(megabytes: 64)
            return .asItShould
        },
        Sin("spin", .event, does: "uses up a core, and does not answer") { _, _ in
            while true {}
        },
    ]
}

/// Sleeps until a signal ends the process.
func sleepForever() -> Never {
    while true { pause() }
}

/// Starts another of this program, in the same group and with the same descriptors, that only sleeps.
///
/// - Returns: Its process id; -1 where there is none.
private func startSleeper() -> pid_t {
    var processID: pid_t = -1
    var arguments = [strdup("MisbehavingModule"), strdup("--asleep"), nil]
    defer { for argument in arguments { free(argument) } }
    let code = posix_spawn(&processID, "/proc/self/exe", nil, nil, &arguments, environ)
    return code == 0 ? processID : -1
}

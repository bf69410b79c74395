import AppService
import TestSupport

@testable import ModuleHostCore

/// A module whose routes answer later: when the test keeps a promise, or answers a reply.
final class LateProbe: RoutedModule, ConfiguredModule, MemoryWarningResponder {
    struct Configuration: Decodable { var probe: String }

    struct Named: Decodable { var name: String }
    struct Key: Decodable { var key: String }

    /// What a handler waits for, by the name of the probe and of the request.
    private static let promises = Guarded<[String: Promise<String>]>([:])

    /// The promise for which `await` with this name waits.
    static func promise(_ name: String, of probe: Probe) -> Promise<String> {
        promises.withLock { promises in
            let name = "\(probe.name) \(name)"
            let promise = promises[name] ?? Promise<String>()
            promises[name] = promise
            return promise
        }
    }

    static var routes: [Route<LateProbe>] {
        [
            Route("await", access: .public) {
                (module, request: Named, call) async throws -> String in
                try module.note("await \(request.name)")
                let text = await promise(request.name, of: module.probe).value
                try module.note("resume \(request.name)\(Task.isCancelled ? " cancelled" : "")")
                if text == "throw" { throw TestError() }
                return "\(text) \(call.origin)"
            },
            Route("traced", access: .public) {
                (module, request: Named, call) async throws -> String in
                try module.note("await \(request.name)")
                _ = await promise(request.name, of: module.probe).value
                return module.context.traceparent ?? "none"
            },
            Route("at-once", access: .public) { (module, call) async throws -> Int in
                try module.note("at-once")
                return module.count
            },
            Route("nothing") { (module, call) async throws in try module.note("nothing") },
            Route("limited", access: .public, deadline: .seconds(2)) {
                (module, request: Named, call) async throws -> String in
                await promise(request.name, of: module.probe).value
            },
            Route("reply", access: .public) {
                (module, request: Key, call, reply: Reply<String>) in
                try module.note("reply \(request.key)")
                module.replies[request.key] = reply
            },
            Route("refuse") { (module, call, reply: Reply<NoReply>) in
                throw TestError(description: "refused")
            },
            Route("answer") { (module, request: Key, call) in
                module.replies.removeValue(forKey: request.key)?.send("answer \(request.key)")
            },
            Route("fail") { (module, request: Key, call) in
                module.replies.removeValue(forKey: request.key)?.fail(TestError())
            },
            Route("release") { (module, request: Key, call) in
                module.replies[request.key] = nil
            },
            Route("count") { (module, call) in module.count },
            Route("ask") { (module, request: Named, call) async throws -> String in
                let mediator = module.context.mediator
                let first = try await mediator.perform(
                    "x.l", "await", ["name": request.name], as: String.self)
                let second = try await module.context.router.value(
                    for: "app://x.l/at-once", as: Int.self)
                try module.note("asked")
                return "\(first) \(second)"
            },
            Route("many") { (module, request: Key, call) async throws -> Int in
                for _ in 0..<10 {
                    // Not atomic, and read and written around a suspension of other calls.
                    module.count += 1
                    await Task.yield()
                }
                return module.count
            },
        ]
    }

    let context: ModuleContext
    let probe: Probe
    var replies: [String: Reply<String>] = [:]
    var count = 0

    init(context: ModuleContext) throws {
        self.context = context
        let name = try context.config(Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
    }

    deinit { probe.note("gone") }

    func didReceiveMemoryWarning() { probe.note("memory-warning") }

    private func note(_ entry: String) throws {
        context.place.preconditionIsolated("a handler runs where its module is")
        count += 1
        probe.note(entry)
        probe.stand(entry)
    }
}

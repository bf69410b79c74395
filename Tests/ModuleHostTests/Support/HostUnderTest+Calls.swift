import TestSupport

@testable import ModuleHostCore

extension HostUnderTest {
    /// Runs `body` as code of the first module, a ``CallProbe``, and waits for what it returns, or for the
    /// error in words.
    func asFirst(
        _ body: @escaping @Sendable (CallProbe) throws -> String
    ) async throws -> String {
        let answer = Promise<String>()
        host.onLane { app, _ in
            guard let module = app.records[0].module as? CallProbe else { return }
            let confined = LaneConfined(module)
            app.gate.lane.enqueue(
                ModuleJob(gate: app.gate, slot: app.records[0].slot) {
                    answer.keep(try body(confined.openInModule()))
                } completion: { result in
                    if case .failure(let error) = result { answer.keep("\(error)") }
                })
        }
        return await answer.value
    }

    /// Opens a URL from outside; the reply's JSON, or the error in words.
    func open(
        _ url: String, from origin: Origin = .control(uid: 1000, pid: 42),
        token: RouteToken? = nil
    ) async -> String {
        await withCheckedContinuation { continuation in
            host.open(url, origin: origin, token: token) {
                continuation.resume(returning: Self.text(of: $0))
            }
        }
    }

    /// Calls an action from outside; the reply's JSON, or the error in words.
    func call(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        token: RouteToken? = nil
    ) async -> String {
        await begin(module, action, parameters, token: token).value
    }

    /// Begins a call from outside, which the lane makes after all that it was given before.
    func begin(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        token: RouteToken? = nil
    ) -> Promise<String> {
        let answer = Promise<String>()
        host.call(
            module, action, parameters, origin: .control(uid: 1000, pid: 42), token: token
        ) {
            answer.keep(Self.text(of: $0))
        }
        return answer
    }

    private static func text(of result: Result<AppHost.CallReply, any Error>) -> String {
        switch result {
        case .success(.json(let json)): String(decoding: json, as: UTF8.self)
        case .success(.claimed(let module)): "claimed by \(module)"
        case .failure(let error): "\(error)"
        }
    }
}

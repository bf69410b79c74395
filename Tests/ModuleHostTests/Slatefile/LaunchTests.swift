import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Lazy modules in a slatefile")
struct LaunchTests {
    private func text(_ module: String) -> String {
        #"{"slate":1,"app":"a","modules":[{"id":"x.main","entry":"ModuleHostTests.ProbeModule","main":true},"#
            + "\n" + module + "]}"
    }

    @Test("a module is eager unless it says otherwise")
    func read() throws {
        let slatefile = try SlatefileTests.read(
            text(
                #"{"id":"x.b","command":["b"],"launch":"lazy","idle":"30s","provides":["a/:b"],"events":["push"],"topics":["t.*"]}"#
            ))
        #expect(slatefile.modules.map(\.launch) == [.eager, .lazy])
        #expect(slatefile.modules[1].idle == .seconds(30))
        #expect(
            slatefile.modules[1].declared
                == Slatefile.CommandDeclaration(
                    routes: ["a/:b"], events: [.push], topics: ["t.*"]))
        #expect(slatefile.madeAtLaunch == [true, false])
    }

    @Test("a class that intercepts calls cannot be lazy")
    func interceptor() {
        let text = text(#"{"id":"x.g","entry":"ModuleHostTests.GuardProbe","launch":"lazy"}"#)
        #expect(throws: SlatefileError.self) {
            do {
                _ = try Slatefile.read(
                    Array(text.utf8), path: "s.json", environment: { _ in nil },
                    checkEntry: EntryUse.checkAgainstBinary())
            } catch let error as SlatefileError {
                #expect(
                    error.diagnostics.map(\.message).contains {
                        $0.contains("intercepts calls, so it cannot be made when it is needed")
                    })
                throw error
            }
        }
    }

    @Test(
        "one that nothing makes is a warning",
        arguments: [
            (
                #"{"id":"x.l","entry":"ModuleHostTests.RunProbe","launch":"lazy"}"#,
                "nothing makes it"
            ),
            (
                #"{"id":"x.l","entry":"ModuleHostTests.LazyMessages","launch":"lazy"}"#,
                "make it conform to TopicListener"
            ),
        ])
    func warning(_ module: String, _ warning: String) throws {
        let slatefile = try SlatefileTests.read(text(module))
        let warnings = slatefile.warnings(at: "s.json", environment: [:])
        #expect(warnings.count == 1 && warnings[0].contains(warning))
        #expect(warnings[0].hasPrefix("x.l: it is lazy"))
    }

    @Test("a class that declares topics and receives no message is a warning")
    func deaf() throws {
        let slatefile = try SlatefileTests.read(
            text(#"{"id":"x.l","entry":"ModuleHostTests.DeafListener"}"#))
        #expect(
            slatefile.warnings(at: "s.json", environment: [:]) == [
                "x.l: its class declares topics, and receives no message: it conforms to TopicListener; "
                    + "make it conform to MessageResponder, too"
            ])
    }

    @Test("what has no effect in a process of its own is a warning")
    func isolatedInterceptors() throws {
        for (entry, name) in [
            ("IsolatedGuard", "CallInterceptor"), ("IsolatedWitness", "NotFoundResponder"),
        ] {
            let module = #"{"id":"x.l","entry":"ModuleHostTests.\#(entry)""#
            let isolated = try SlatefileTests.read(text(module + #","isolation":"process"}"#))
            #expect(
                isolated.warnings(at: "s.json", environment: [:]) == [
                    "x.l: its class is a \(name), which has no effect in a process of its own; "
                        + "remove \"isolation\", or the conformance"
                ])
            let inside = try SlatefileTests.read(text(module + "}"))
            #expect(inside.warnings(at: "s.json", environment: [:]).isEmpty)
        }
    }

    @Test("what makes a module is no warning")
    func noWarning() throws {
        for module in [
            #"{"id":"x.l","entry":"ModuleHostTests.LazyProbe","launch":"lazy"}"#,
            #"{"id":"x.l","entry":"ModuleHostTests.LazyPushes","launch":"lazy"}"#,
            #"{"id":"x.l","entry":"ModuleHostTests.LazyTopics","launch":"lazy"}"#,
            #"{"id":"x.l","entry":"ModuleHostTests.LazyServices","launch":"lazy"}"#,
            #"{"id":"x.l","command":["sh"],"launch":"lazy","provides":["a"]}"#,
            #"{"id":"x.l","entry":"ModuleHostTests.RunProbe","launch":"lazy"},{"id":"x.n","entry":"ModuleHostTests.ProbeModule","needs":["x.l"]}"#,
        ] {
            let slatefile = try SlatefileTests.read(text(module))
            #expect(slatefile.warnings(at: "s.json", environment: [:]).isEmpty)
        }
    }
}

/// A module that only events make.
final class LazyPushes: RemoteNotificationResponder {
    init(context: ModuleContext) {}

    func didReceiveRemoteNotification(_ notification: RemoteNotification) -> FetchResult { .noData }
}

/// A module that only messages make.
final class LazyTopics: TopicListener, MessageResponder {
    static var topics: [String] { ["a"] }

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
}

/// A module that declares topics alone.
final class DeafListener: TopicListener {
    static var topics: [String] { ["a"] }

    init(context: ModuleContext) {}
}

/// A class that decides about calls.
final class IsolatedGuard: Module, CallInterceptor {
    init(context: ModuleContext) {}

    func intercept(_ call: InterceptedCall) -> Interception { .proceed }
}

/// A class that receives calls without a route.
final class IsolatedWitness: Module, NotFoundResponder {
    init(context: ModuleContext) {}

    func didNotFind(_ call: InterceptedCall, error: RouteError) {}
}

/// A module that only its service makes.
final class LazyServices: ServiceProvider {
    static var services: [Any.Type] { [(any CustomStringConvertible).self] }

    init(context: ModuleContext) {}
}

/// A module with messages whose topics are not declared.
final class LazyMessages: MessageResponder {
    var topics: [String] { ["a"] }

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
}

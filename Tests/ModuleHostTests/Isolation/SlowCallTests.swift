import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// Slow calls of a module in a process of its own: they hold up their callers alone.
@Suite("Modules of other processes: calls that take long", .timeLimit(.minutes(10)))
struct SlowCallTests {
    private static let module = ModuleID(checked: "x.b")
    private let probe = Probe()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A program that answers a call when the file of its name is there, and writes down which calls it has begun; `relay`
    /// makes a call of the first module meanwhile.
    private func entry(_ more: String = "", version: Int = 1) -> HostUnderTest.Entry {
        let routes = #"""
            ,"events":["push"],"routes":[{"pattern":"slow/:name","action":"slow","access":"public"},\#
            {"pattern":"relay","access":"public"},{"pattern":"nap","access":"public"}]
            """#
        let cases = """
            *'"action":"slow"'*)
                name=${line#*'"name":"'} name=${name%%'"'*}
                echo "$name" >>begun
                while [ ! -e "$name" ]; do :; done
                result='"'$name' \(version)"' ;;
            *'"action":"nap"'*) sleep 1; result='"napped"' ;;
            *'"method":"event"'*'"push"'*) echo push >>begun; result=null ;;
            *'"action":"relay"'*)
                printf '%s\\n' '{"jsonrpc":"2.0","id":7,"method":"call","params":{"module":"x.a","action":"act"}}'
                result=
                while [ -z "$result" ]; do
                    IFS= read -r other
                    case $other in
                    *'"method"'*)
                        name=${other#*'"name":"'} name=${name%%'"'*} inner=${other#*'"id":'} inner=${inner%%,*}
                        echo "nested $name" >>begun
                        printf '{"jsonrpc":"2.0","id":%s,"result":"nested %s"}\\n' "$inner" "$name" ;;
                    *) result='"relayed"' ;;
                    esac
                done ;;
            """
        return HostUnderTest.Entry(
            name: "b", more: more,
            command: ShellModule.command(
                "x.b", declaring: routes, start: "cd '\(folder.path)'", cases: cases,
                end: #"case $line in *'"method":"shutdown"'*) exit 0 ;; esac"#)
                + ["version \(version)"])
    }

    private func entries(_ entry: HostUnderTest.Entry) -> [HostUnderTest.Entry] {
        [HostUnderTest.Entry(name: "a", type: "CallProbe"), entry]
    }

    private func launched(_ more: String = "") async throws -> HostUnderTest {
        probe.whenCalled("a act") { _, _ in "acted" }
        return try await HostUnderTest(entries(entry(more)), processes: .quick, probe: probe)
            .launched()
    }

    /// Waits until the program has begun so many calls.
    private func begun(_ count: Int) async throws -> [String] {
        let deadline = ContinuousClock.now + HostProcess.patience
        while true {
            let text = fileExists(folder.path("begun")) ? try folder.text(of: "begun") : ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count || .now > deadline { return lines }
            await Task.yield()
        }
    }

    private func open(_ name: String) throws { try folder.write("", to: name) }

    private func slow(_ name: String, _ host: HostUnderTest) -> Promise<String> {
        host.begin("x.b", "slow", RouteParameters(["name": name]))
    }

    @Test("others are called meanwhile, also the module itself, which answers in its own order")
    func others() async throws {
        let host = try await launched()
        let first = slow("one", host)
        #expect(try await begun(1) == ["one"])
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        let second = slow("two", host)
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        #expect(await host.statuses().allSatisfy { $0.state == .running })
        try open("two")
        try open("one")
        #expect(await first.value == "\"one 1\"")
        #expect(await second.value == "\"two 1\"")
        #expect(try await begun(2) == ["one", "two"])
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "one that never answers is unresponsive after its deadline: its calls fail, and its process is killed at the limit"
    )
    func never() async throws {
        let host = try await launched(#""deadline": "2s", "killAfter": "3s""#)
        let first = slow("one", host)
        _ = try await begun(1)
        let second = slow("two", host)
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        host.time.advance(by: .milliseconds(1900))
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        host.time.advance(by: .milliseconds(100))
        #expect(await first.value == "\(RouteError.tookTooLong(Self.module))")
        #expect(await second.value == "\(RouteError.overdue(Self.module))")
        #expect(
            await host.call("x.b", "slow", RouteParameters(["name": "three"]))
                == "\(RouteError.overdue(Self.module))")
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        let end = await host.recorder.first { $0.message.contains("was killed") }
        #expect(end.message.contains("did not answer 'call' within 3s, and was killed"))
        try open("four")
        _ = await host.recorder.first { $0.message.hasPrefix("responsive again") }
        #expect(await slow("four", host).value == "\"four 1\"")
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that answers after its deadline is responsive again")
    func late() async throws {
        let host = try await launched(#""deadline": "2s", "killAfter": "10m""#)
        let first = slow("one", host)
        _ = try await begun(1)
        host.time.advance(by: .seconds(2))
        #expect(await first.value == "\(RouteError.tookTooLong(Self.module))")
        try open("one")
        _ = await host.recorder.first { $0.message.hasPrefix("responsive again") }
        try open("two")
        #expect(await slow("two", host).value == "\"two 1\"")
        #expect(await host.stopped() == .stopped)
    }

    @Test("many that wait for one another are in time as long as each of them is")
    func many() async throws {
        let host = try await launched(#""deadline": "2s""#)
        let calls = (1...4).map { slow("\($0)", host) }
        // The lane is in none of them any more: the watchdog would count the time of the calls before.
        await host.settled()
        for number in 1...4 {
            let begun = try await begun(number)
            #expect(begun.count == number)
            host.time.advance(by: .milliseconds(1900))
            try open(begun[number - 1])
            // The time of the next one begins with the answer to this one.
            let index = try #require(Int(begun[number - 1])) - 1
            #expect(await calls[index].value == "\"\(index + 1) 1\"")
        }
        #expect(await host.stopped() == .stopped)
    }

    @Test("an event behind calls has its time from the last of them on")
    func eventBehind() async throws {
        let host = try await launched(#""deadline": "2s", "killAfter": "4s""#)
        let naps = (1...6).map { _ in host.begin("x.b", "nap") }
        for nap in naps.prefix(1) { #expect(await nap.value == "\"napped\"") }
        // It is sent while calls of more than four seconds are before it.
        try host.deliver(.push, #"{"aps": {}}"#)
        for nap in naps { #expect(await nap.value == "\"napped\"") }
        #expect(try await begun(1) == ["push"])
        await host.settled()
        #expect(!host.recorder.records.contains { $0.message.contains("was killed") })
        #expect(await host.stopped() == .stopped)
    }

    @Test("a process that ends fails its calls, which are not made again")
    func ends() async throws {
        let host = try await launched()
        let (first, second) = (slow("one", host), slow("two", host))
        _ = try await begun(1)
        let status = await host.statuses().first { $0.id == Self.module }
        kill(try #require(status?.process?.processID), SIGKILL)
        for call in [first, second] {
            let text = await call.value.replacing(/process \d+/, with: "process N")
            #expect(text == "x.b: process N was killed by SIGKILL")
        }
        _ = await host.recorder.first { $0.message.hasPrefix("responsive again") }
        try open("three")
        #expect(await slow("three", host).value == "\"three 1\"")
        #expect(try await begun(2).filter { $0 != "three" }.count == 1)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a module that is replaced answers what it was asked")
    func replaced() async throws {
        let host = try await launched()
        let first = slow("one", host)
        _ = try await begun(1)
        #expect(try await host.reload(entries(entry(version: 2))).text == "applied: recreated x.b")
        try open("two")
        #expect(await slow("two", host).value == "\"two 2\"")
        try open("one")
        #expect(await first.value == "\"one 1\"")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a module that is called by one that it has called serves it meanwhile")
    func nested() async throws {
        let host = try await launched()
        probe.whenCalled("a act") { module, _ in
            "\(try module.context.mediator.perform("x.b", "slow", ["name": "inner"], as: String.self))"
        }
        #expect(await host.call("x.b", "relay") == "\"relayed\"")
        #expect(try await begun(1) == ["nested inner"])
        #expect(await host.stopped() == .stopped)
    }
}

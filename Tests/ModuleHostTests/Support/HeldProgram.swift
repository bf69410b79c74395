import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// A program that is a module, and that says what it is when the test lets it.
final class HeldProgram: Sendable {
    private let folder: TemporaryFolder
    private let pipe: Descriptor

    init() throws {
        folder = try TemporaryFolder()
        try #require(mkfifo(folder.path("go"), 0o600) == 0)
        // Open for both, so that neither end waits for the other one.
        pipe = Descriptor(owning: Glibc.open(folder.path("go"), O_RDWR | O_CLOEXEC))
    }

    /// Lets a process say what it is; or lets it exit before that.
    func go(_ word: String = "go") throws {
        let line = Array("\(word)\n".utf8)
        try #require(write(pipe.number, line, line.count) == line.count)
    }

    func entry(_ name: String, _ more: String = "") -> HostUnderTest.Entry {
        let script = #"""
            while IFS= read -r line; do
                id=${line#*'"id":'} id=${id%%,*}
                result=null
                case $line in
                *'"method":"initialize"'*)
                    echo starts >&2
                    read -r word <"$1"
                    [ "$word" = go ] || exit 3
                    result='{"protocol":2,"module":"'"$2"'","events":["push"],"topics":["news.*"],"routes":[{"pattern":"ping","access":"public"}]}' ;;
                *'"event":"push"'*) echo "push $(expr "$line" : '.*"position":"\([0-9:]*\)')" >&2 ;;
                *'"event":"message"'*) echo "$(expr "$line" : '.*"topic":"\([a-z.]*\)')" >&2 ;;
                *'"method":"call"'*) result='"pong"' ;;
                *'"method":"shutdown"'*) exit 0 ;;
                esac
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            done
            """#
        return HostUnderTest.Entry(
            name: name, more: more,
            command: ["/bin/sh", "-c", script, "held", folder.path("go"), "x.\(name)"])
    }

    /// A program that prints plain text, and ends with the code that the test gives.
    func plain(_ name: String, _ more: String = "") -> HostUnderTest.Entry {
        let script = #"echo starts; read -r code <"$1"; echo "ends with $code"; exit "$code""#
        return HostUnderTest.Entry(
            name: name, more: #""ends": true"# + more,
            command: ["/bin/sh", "-c", script, "plain", folder.path("go")])
    }

    /// Waits until a process of module b waits for the test.
    func starts(_ test: HostUnderTest, _ count: Int = 1) async {
        var records = 0
        for _ in 0..<count {
            _ = await test.recorder.first(from: records) { $0.message == "starts" }
            // The next one may be there already.
            let found = test.recorder.records[records...].firstIndex { $0.message == "starts" }
            records = (found ?? records) + 1
        }
    }
}

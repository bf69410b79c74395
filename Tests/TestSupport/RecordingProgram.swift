package import ModuleHost

/// A program that is a module, and writes down each event that it is told, before it answers.
///
/// It dies of a durable event whose id begins with `poison`; of one that begins with `die`, and hangs in one
/// that begins with `hang`, each unless it is told that it may have heard it before.
package struct RecordingProgram: Sendable {
    /// The program and its arguments, for a slatefile.
    package let command: [String]
    private let file: String

    private static let script = #"""
        while IFS= read -r line; do
            id=${line#*'"id":'} id=${id%%,*}
            method=${line#*'"method":"'} method=${method%%'"'*}
            result=null
            case $method in
            initialize) result='{"protocol":1,"module":"'"$1"'","events":['"$2"']}' ;;
            event)
                printf '{"pid":%s,"told":%s}\n' $$ "$line" >>"$3"
                case $line in
                *'"id":"poison'*) kill -KILL $$ ;;
                *'"repeated":true'*) ;;
                *'"id":"die'*) kill -KILL $$ ;;
                *'"id":"hang'*) exec sleep 300 ;;
                esac
                ;;
            esac
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            [ "$method" != shutdown ] || exit 0
        done
        """#

    /// - Parameters:
    ///   - id: The id that the module has in the slatefile.
    ///   - events: What it wants to hear of.
    ///   - folder: Where it writes.
    ///   - version: Makes another program of it, which writes into the same file.
    package init(
        _ id: String, hearing events: [String] = ["push"], in folder: TemporaryFolder,
        version: Int = 1
    ) {
        file = folder.path("\(id).told")
        let list = events.map { "\"\($0)\"" }.joined(separator: ",")
        command = ["/bin/sh", "-c", Self.script, "version \(version)", id, list, file]
    }

    /// An event that it was told of.
    package struct Told: Sendable {
        package let processID: Int
        package let event: String
        package let position: String?
        package let id: String?
        package let attempt: Int?
        package let isRepeated: Bool
        package let payload: JSONValue?
    }

    /// What it was told so far, in order.
    package var told: [Told] {
        get throws {
            guard fileExists(file) else { return [] }
            let text = String(decoding: try readFile(at: file, limit: 16 << 20), as: UTF8.self)
            // What has no newline yet is half a line.
            return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .map { try Told(JSONValue(parsing: String($0))) }
        }
    }

    /// Waits until it was told of something.
    package func told(_ matches: (Told) -> Bool) async throws -> Told {
        let deadline = ContinuousClock.now + HostProcess.patience
        while true {
            if let found = try told.first(where: matches) { return found }
            guard ContinuousClock.now < deadline else { throw NeverTold() }
            await Task.yield()
        }
    }

    private struct NeverTold: Error {}
}

extension RecordingProgram.Told {
    fileprivate init(_ line: JSONValue) {
        let parameters = line["told"]?["params"]
        processID = line["pid"]?.int ?? 0
        event = parameters?["event"]?.string ?? ""
        position = parameters?["position"]?.string
        id = parameters?["id"]?.string
        attempt = parameters?["attempt"]?.int
        isRepeated = parameters?["repeated"]?.bool ?? false
        payload = parameters?["payload"]
    }
}

package import ModuleHostCore

/// A program that is a module, and writes down each event that it receives, before it answers.
///
/// It dies of a durable event whose id begins with `poison`; of one that begins with `die`, and hangs in one
/// that begins with `hang`, each unless the event says that it may have been received before.
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
            initialize) result='{"protocol":2,"module":"'"$1"'","events":['"$2"']}' ;;
            event)
                printf '{"pid":%s,"received":%s}\n' $$ "$line" >>"$3"
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
    ///   - events: The events that it wants to receive.
    ///   - folder: Where it writes.
    ///   - version: Makes another program of it, which writes into the same file.
    package init(
        _ id: String, receiving events: [String] = ["push"], in folder: TemporaryFolder,
        version: Int = 1
    ) {
        file = folder.path("\(id).received")
        let list = events.map { "\"\($0)\"" }.joined(separator: ",")
        command = ["/bin/sh", "-c", Self.script, "version \(version)", id, list, file]
    }

    /// An event that the program received.
    package struct ReceivedEvent: Sendable {
        package let processID: Int
        package let event: String
        package let position: String?
        package let id: String?
        package let attempt: Int?
        package let isRepeated: Bool
        package let payload: JSONValue?
    }

    /// The events that it received so far, in order.
    package var received: [ReceivedEvent] {
        get throws {
            guard fileExists(file) else { return [] }
            let text = String(decoding: try readFile(at: file, limit: 16 << 20), as: UTF8.self)
            // What has no newline yet is half a line.
            return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .map { try ReceivedEvent(JSONValue(parsing: String($0))) }
        }
    }

    /// Waits until it has received an event that matches.
    package func received(_ matches: (ReceivedEvent) -> Bool) async throws -> ReceivedEvent {
        let deadline = ContinuousClock.now + HostProcess.patience
        while true {
            if let found = try received.first(where: matches) { return found }
            guard ContinuousClock.now < deadline else { throw NeverReceived() }
            await Task.yield()
        }
    }

    private struct NeverReceived: Error {}
}

extension RecordingProgram.ReceivedEvent {
    fileprivate init(_ line: JSONValue) {
        let parameters = line["received"]?["params"]
        processID = line["pid"]?.int ?? 0
        event = parameters?["event"]?.string ?? ""
        position = parameters?["position"]?.string
        id = parameters?["id"]?.string
        attempt = parameters?["attempt"]?.int
        isRepeated = parameters?["repeated"]?.bool ?? false
        payload = parameters?["payload"]
    }
}

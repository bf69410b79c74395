import AppService

/// The writer of long answers, for all callers of a method.
///
/// Neither the lane nor the control socket waits for it. One thread does it, which lives while a caller waits;
/// callers that arrive meanwhile share the next answer, so that thousands cost as much as one.
final class AnswerDesk<Source: Sendable, Document, Format: Hashable & Sendable>: Sendable {
    private typealias Replies = [(reply: RPCReply, format: Format)]

    private struct State {
        /// The newest source; nil if no caller waits.
        var source: Source?
        var replies: Replies = []
        var isAtWork = false
    }

    private let name: String
    private let document: @Sendable (Source) -> Document
    private let write: @Sendable (Document, Format, inout JSONWriter) -> Void
    private let state = Guarded(State())

    /// - Parameters:
    ///   - name: The name of the thread.
    ///   - document: Makes the document of a source, once for all callers that wait.
    ///   - write: Writes a document in one of its forms, as one JSON value.
    init(
        _ name: String, document: @escaping @Sendable (Source) -> Document,
        write: @escaping @Sendable (Document, Format, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.document = document
        self.write = write
    }

    /// Responds with the document of a source, or of a newer one.
    func take(_ reply: RPCReply, _ format: Format, of source: Source) {
        let isIdle = state.withLock { state in
            state.source = source
            state.replies.append((reply, format))
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard isIdle else { return }
        do {
            try NativeThread.start(name: name) { [self] in
                while let (source, replies) = next() { answer(replies, document(source)) }
            }
        } catch {
            while let (_, replies) = next() {
                for (reply, _) in replies { reply.fail(RPCError(.internalError, "\(error)")) }
            }
        }
    }

    /// Takes all waiting callers; if there are none, the work is over.
    private func next() -> (source: Source, replies: Replies)? {
        state.withLock { state in
            guard let source = state.source else {
                state.isAtWork = false
                return nil
            }
            let replies = state.replies
            (state.source, state.replies) = (nil, [])
            return (source, replies)
        }
    }

    private func answer(_ replies: Replies, _ document: Document) {
        for (format, replies) in Dictionary(grouping: replies, by: \.format) {
            var json = JSONWriter()
            write(document, format, &json)
            for (reply, _) in replies { reply.succeed(raw: json.bytes) }
        }
    }
}

/// The forms of a document among which a caller chooses.
///
/// ```
/// {"format":"text"}
/// ```
struct FormatParameters<Format: RawRepresentable<String> & CaseIterable & Sendable>: Decodable,
    Sendable
{
    let format: Format?

    private enum Key: CodingKey {
        case format
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let name = try members.decodeIfPresent(String.self, forKey: .format)
        format = name.flatMap(Format.init)
        if let name, format == nil {
            let names = Format.allCases.map { "'\($0.rawValue)'" }
            throw DecodingError.dataCorruptedError(
                forKey: .format, in: members,
                debugDescription:
                    "expected one of \(names.joined(separator: ", ")), found \(quoted(name))")
        }
    }
}

// The module of README.md, compiled and run.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import ModuleHost

/// Greets every user who signs in, and logs at the end how many there were.
public final class GreeterModule: MessageResponder, TopicListener, TerminationResponder,
    ConfiguredModule
{
    public struct Configuration: Decodable, Sendable {
        let greeting: String?
    }

    public static var topics: [String] { ["user.signed-in"] }

    private let log: Log
    private let greeting: String
    private var languages: [String] = []
    private var count = 0

    public init(context: ModuleContext) throws {
        log = context.log
        greeting = try context.config(Configuration.self).greeting ?? "Hello"
        try context.startup("languages", priority: .high) {
            ["Swift", "English"]  // off the lane, without the module
        } then: { languages in
            self.languages = languages  // on the lane, before `launch`
        }
    }

    public func receive(_ message: Message) throws {
        count += 1
        log.info("\(greeting), number \(count); we speak \(languages.joined(separator: ", "))")
    }

    public func willTerminate() { log.info("greeted \(count)") }
}

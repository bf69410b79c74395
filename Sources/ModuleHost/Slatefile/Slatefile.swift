/// An app as its slatefile describes it: checked, and with every default filled in.
///
/// The only way to create one is ``read(_:path:environment:)``.
public struct Slatefile: Sendable {
    /// The app's name.
    package internal(set) var app: String
    /// The schemes of the app's URLs, in lower case.
    package internal(set) var schemes: [String] = []
    /// The settings that every module may read.
    package internal(set) var config: JSONValue?
    /// The modules, in the order in which they respond; those that are not enabled included.
    package internal(set) var modules: [Module] = []
    /// The module that answers URLs that no other module answers.
    package internal(set) var fallback: ModuleID?
    /// The rewrites of URLs before they are routed, in order.
    package internal(set) var rewrites: [Rewrite] = []
    /// The action of each signal: the defaults, with those that the slatefile replaces.
    package internal(set) var signals: [SignalName: SignalAction] = Defaults.signals
    /// The settings of start-up tasks.
    package internal(set) var startup = Startup()
    /// The deadlines of modules.
    package internal(set) var deadlines = Deadlines()
    /// The settings of access.
    package internal(set) var security = Security()
    /// The policy that decides which modules run in a process of their own.
    package internal(set) var isolation = IsolationPolicy.declared
    /// The least level that the log writes.
    package internal(set) var logLevel = LogLevel.info
    /// The source of the package ModuleHost for `hostd compose`; nil for the one of the running program.
    package internal(set) var host: Source?
    /// The part of the slatefile that the app has; nil for all of it.
    package internal(set) var part: SlatefilePart?
    /// The fingerprint of its text; nil for one that was not read from a file.
    var fingerprint: Fingerprint?

    /// One module of the app.
    package struct Module: Sendable {
        /// The name of the module.
        package internal(set) var id: ModuleID
        /// The implementation of the module.
        package internal(set) var implementation: Implementation
        /// Whether the module runs at all.
        package internal(set) var isEnabled = true
        /// Whether the module is left out of an app that was composed of a part of the slatefile; it is not
        /// enabled then.
        package internal(set) var isLeftOut = false
        /// Whether the module is not enabled because it is disabled beside the slatefile (`hostd disable`).
        package internal(set) var isDisabled = false
        /// Whether the app cannot run without the module.
        package internal(set) var isRequired = false
        /// Whether the module is restarted after it has failed in `init` or `launch`.
        package internal(set) var isRetried = false
        /// Whether the module is a program whose end with code 0 is its success: it has done what it is for.
        package internal(set) var ends = false
        /// The order in which a restart, or a reload that recreates the module, stops and starts it.
        package internal(set) var replacement = Replacement.startFirst
        /// Whether the module provides the root that is opened at the end of launch: true of exactly one
        /// enabled module.
        package internal(set) var isMain = false
        /// The modules that this one needs, which stand before it: where one of them has failed, it is not
        /// created.
        package internal(set) var needs: [ModuleID] = []
        /// Whether the module is made at launch, or when it is needed.
        package internal(set) var launch = LaunchTime.eager
        /// The time after which a lazy module that is not used is unloaded; nil for never.
        package internal(set) var idle: Duration?
        /// The uses that a command declares; nil for none.
        package internal(set) var declared: CommandDeclaration?
        /// The URL that is opened instead of the module when it has failed; nil for none.
        package internal(set) var instead: InsteadURL?
        /// The deadline for an event; nil for ``Deadlines/event``.
        package internal(set) var deadline: Duration?
        /// The time after which the module's process is killed; nil for twice the deadline.
        package internal(set) var killAfter: Duration?
        /// The isolation; nil if the slatefile leaves it to ``Slatefile/isolation``.
        package internal(set) var isolation: Isolation?
        /// The number of host deaths during which the module was running, where it is isolated for that and
        /// not by the slatefile.
        package internal(set) var hostDeaths: Int?
        /// The modules whose services a Swift module uses from its process (``Slatefile/namingFacades()``).
        var facadeProviders: [FacadeProvider] = []
        /// The names of the environment variables that the module's process gets.
        package internal(set) var environment: [String] = []
        /// The permissions of the module's process beyond those of any module.
        package internal(set) var permissions: Set<Permission> = []
        /// The number of events that the module may be behind in memory.
        package internal(set) var backlog = Defaults.backlog
        /// The bytes of the inbox that may wait for the module before the oldest events are dead letters.
        package internal(set) var keep = Defaults.keep
        /// The least level that the log writes of the module; nil for that of the host.
        package internal(set) var logLevel: LogLevel?
        /// The module's own settings.
        package internal(set) var config: JSONValue?
        /// The source for `hostd compose`.
        package internal(set) var source: Source?
        /// The product of the module's package for `hostd compose`; nil for the one with the entry's target.
        package internal(set) var product: String?
        /// The line and column at which the module stands in the slatefile, counted on each access.
        package var place: TextPlace { value.place }
        /// The module's whole object in the slatefile.
        let value: JSONValue
    }

    /// The implementation of a module.
    package enum Implementation: Hashable, Sendable {
        /// A class of the running binary, such as `Modules.PushModule`.
        case entry(String)
        /// A program with its arguments, which runs in a process of its own.
        case command([String])

        /// The name of the class, or the command line, for people.
        package var text: String {
            switch self {
            case .entry(let name): name
            case .command(let words): words.map(shellQuoted).joined(separator: " ")
            }
        }
    }

    /// A module that provides services by façades.
    struct FacadeProvider: Hashable, Sendable {
        let module: ModuleID
        /// The module's class, which lists the façades.
        let entry: String
    }

    /// The order in which a module is replaced by a new instance of it.
    package enum Replacement: String, Hashable, Sendable, CaseIterable {
        /// The new one is launched beside the old one, and takes its place.
        case startFirst = "start-first"
        /// The old one is stopped before the new one is made: both own what only one can have.
        case stopFirst = "stop-first"
    }

    /// The time at which a module is made.
    package enum LaunchTime: String, Hashable, Sendable, CaseIterable {
        /// At the launch of the app.
        case eager
        /// At the first use of the module.
        case lazy
    }

    /// The uses that a command declares in the slatefile, so that they are known without starting it.
    package final class CommandDeclaration: Hashable, Sendable {
        /// The patterns of its routes.
        package let routes: [String]
        /// The events that it receives; of those that can make a module.
        package let events: [EventKind]
        /// The topics on which it receives messages.
        package let topics: [String]

        init(routes: [String], events: [EventKind], topics: [String]) {
            (self.routes, self.events, self.topics) = (routes, events, topics)
        }

        package static func == (one: CommandDeclaration, other: CommandDeclaration) -> Bool {
            one.routes == other.routes && one.events == other.events && one.topics == other.topics
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(routes)
            hasher.combine(events)
            hasher.combine(topics)
        }
    }

    /// The isolation of a module.
    package enum Isolation: String, Hashable, Sendable, CaseIterable {
        /// In the host's own process, without exception.
        case none
        /// In a process of its own.
        case process
    }

    /// A permission that the process of a module has only where the slatefile grants it.
    package enum Permission: String, Hashable, Sendable, CaseIterable {
        /// To send events of the whole app, which have no payload: to stop it, to move it to the background.
        case state
        /// To have the host apply a slatefile.
        case apply
    }

    /// The policy that decides which modules run in a process of their own.
    package enum IsolationPolicy: String, Hashable, Sendable, CaseIterable {
        /// The modules for which the slatefile declares it.
        case declared
        /// Those modules, and those that were running at two deaths of the host, from then on.
        case auto
    }

    /// The source of a module.
    package enum Source: Hashable, Sendable {
        /// A git repository, at a branch, a tag, or its own default.
        case git(String, GitReference?)
        /// A folder.
        case path(String)
    }

    /// A reference in a git repository.
    package enum GitReference: Hashable, Sendable {
        /// The head of a branch.
        case branch(String)
        /// A tag.
        case tag(String)
    }

    /// A pattern of URLs and the URL that replaces those that match.
    package typealias Rewrite = RouteRewrite

    /// The action of a signal.
    package enum SignalAction: Equatable, Sendable {
        /// The slatefile is reloaded.
        case reload
        /// An event is delivered. The payload, if the event takes one, was checked to be of its type.
        case event(EventKind, payload: JSONValue?)
        /// A URL is opened.
        case openURL(String)
        /// A message is delivered.
        case message(topic: String, payload: JSONValue?)
    }

    /// The settings of start-up tasks.
    package struct Startup: Hashable, Sendable {
        /// The number of tasks that run at a time, 1 to 256; nil for as many as there are cores.
        package internal(set) var width: Int?
        /// The deadline of a task that has none of its own.
        package internal(set) var deadline = Defaults.startup
    }

    /// The deadlines of modules.
    package struct Deadlines: Hashable, Sendable {
        /// The deadline for one event.
        package internal(set) var event = Defaults.event
        /// The longest time until the answer of a route that answers later.
        package internal(set) var call = Defaults.call
        /// The deadline for the launch.
        package internal(set) var launch = Defaults.launch
        /// The deadline for each step of the stop.
        package internal(set) var stop = Defaults.stop
        /// The deadline for the whole stop.
        package internal(set) var stopAll = Defaults.stopAll
    }

    /// The settings of access.
    package struct Security: Hashable, Sendable {
        /// The file of tokens, as the slatefile names it: beside the slatefile unless absolute.
        package internal(set) var tokens: String?
        /// The line and column of that name.
        var tokensPlace: TextPlace?

        package static func == (one: Security, other: Security) -> Bool {
            one.tokens == other.tokens
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(tokens) }
    }

    /// The default values.
    enum Defaults {
        static let backlog = 1024
        static let keep = 64 << 20
        static let event = Duration.seconds(5)
        static let call = Duration.seconds(30)
        static let launch = Duration.seconds(20)
        static let stop = Duration.seconds(10)
        static let stopAll = Duration.seconds(30)
        static let startup = Duration.seconds(15)
        static let signals: [SignalName: SignalAction] = [
            .terminate: .event(.terminate, payload: nil),
            .interrupt: .event(.terminate, payload: nil),
            .hangUp: .reload,
            .user1: .event(.background, payload: nil),
            .user2: .event(.foreground, payload: nil),
        ]
    }

    /// The limits of a slatefile.
    enum Limits {
        /// The number of modules: a module's place in the order is 16 bits in the lane's word.
        static let modules = 50_000
        static let rewrites = 10_000
        /// The length of a list: more names, arguments and the like would be a mistake.
        static let list = 1024
        static let nameLength = 100
        static let width = 1...256
        static let backlog = 1...1_000_000
        static let keep = 1 << 20...1 << 40
        /// The bytes of a repository's URL, or of the path of a folder.
        static let sourceLength = 2000
        /// The bytes of the name of a branch, a tag or a product.
        static let referenceLength = 200
        /// The number of diagnostics shown in one run.
        static let diagnostics = 1000
    }
}

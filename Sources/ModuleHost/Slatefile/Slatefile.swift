/// An app as its slatefile describes it: checked, and with every default filled in.
///
/// There is one way to get one: ``read(_:path:environment:)``.
public struct Slatefile: Sendable {
    /// The app's name.
    package internal(set) var app: String
    /// The schemes of the app's URLs, in lower case.
    package internal(set) var schemes: [String] = []
    /// The settings that every module may read.
    package internal(set) var config: JSONValue?
    /// The modules, in the order in which they respond; those that are not enabled included.
    package internal(set) var modules: [Module] = []
    /// The module that answers the URLs which no other module answers.
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

    /// One module of the app.
    package struct Module: Sendable {
        /// Its name.
        package internal(set) var id: ModuleID
        /// Its implementation.
        package internal(set) var implementation: Implementation
        /// Whether it runs at all.
        package internal(set) var isEnabled = true
        /// Whether the app cannot run without it.
        package internal(set) var isRequired = false
        /// Whether it is restarted after it has failed in `init` or `launch`.
        package internal(set) var isRetried = false
        /// Whether it supplies the root that is opened at the end of launch: true of exactly one
        /// enabled module.
        package internal(set) var isMain = false
        /// Its deadline for an event; nil for ``Deadlines/event``.
        package internal(set) var deadline: Duration?
        /// The time after which its process is killed; nil for twice the deadline.
        package internal(set) var killAfter: Duration?
        /// Its isolation; nil if the slatefile leaves that to ``Slatefile/isolation``.
        package internal(set) var isolation: Isolation?
        /// At the work of how many hosts' deaths it was, where it is isolated for that and not by the slatefile.
        package internal(set) var hostDeaths: Int?
        /// The names of the environment variables that its process gets.
        package internal(set) var environment: [String] = []
        /// The permissions of its process beyond those of any module.
        package internal(set) var permissions: Set<Permission> = []
        /// The number of events that it may be behind in memory.
        package internal(set) var backlog = Defaults.backlog
        /// Its own settings.
        package internal(set) var config: JSONValue?
        /// The source for `hostd compose`.
        package internal(set) var source: Source?
        /// The line and column at which it stands in the slatefile, counted when asked for.
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
    }

    /// The isolation of a module.
    package enum Isolation: String, Hashable, Sendable, CaseIterable {
        /// In the host's own process, whatever happens.
        case none
        /// In a process of its own.
        case process
    }

    /// Something that the process of a module may do only where the slatefile says so.
    package enum Permission: String, Hashable, Sendable, CaseIterable {
        /// To send events of the whole app, which have no payload: to stop it, to send it to the background.
        case state
    }

    /// The policy that decides which modules run in a process of their own.
    package enum IsolationPolicy: String, Hashable, Sendable, CaseIterable {
        /// Those that say so.
        case declared
        /// Those too that were running at two deaths of the host, from then on.
        case auto
    }

    /// The source of a module.
    package enum Source: Hashable, Sendable {
        /// A git repository, at a branch, a tag, or where it stands by itself.
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
        /// The slatefile is read again.
        case reload
        /// An event is delivered. The payload, if the event takes one, was found to be of its type.
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
        /// Over one event.
        package internal(set) var event = Defaults.event
        /// Over the launch.
        package internal(set) var launch = Defaults.launch
        /// Over each step of the stop.
        package internal(set) var stop = Defaults.stop
        /// All together over the whole stop.
        package internal(set) var stopAll = Defaults.stopAll
    }

    /// The settings of access.
    package struct Security: Hashable, Sendable {
        /// The file of tokens, as the slatefile writes it: beside the slatefile unless absolute.
        package internal(set) var tokens: String?
    }

    /// The defaults.
    enum Defaults {
        static let backlog = 1024
        static let event = Duration.seconds(5)
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
        /// A module's place in the order is 16 bits in the lane's word.
        static let modules = 50_000
        static let rewrites = 10_000
        /// Names, arguments and the like, of which more would be a mistake.
        static let list = 1024
        static let nameLength = 100
        static let width = 1...256
        static let backlog = 1...1_000_000
        /// Faults shown in one run.
        static let faults = 1000
    }
}

import AppService
import Dispatch
import ModuleHostCore
import Synchronization

/// What the modules of one test did, in order, and what they are to do when notified of something.
///
/// Its modules find it by its name, in their `config`; each has another, also where two are asked for
/// under one.
final class Probe: Sendable {
    typealias Act = @Sendable (ProbeModule) throws -> Void
    typealias LazyAct = @Sendable (LazyProbe?) throws -> Void
    typealias ChangeAct = @Sendable (ConfigurationChange) -> Void
    typealias CallAct = @Sendable (CallProbe, RouteCall) throws -> String
    typealias Judgement = @Sendable (InterceptedCall) throws -> Interception

    private struct State {
        var entries: [String] = []
        var acts: [String: Act] = [:]
        var lazyActs: [String: LazyAct] = [:]
        var changeActs: [String: ChangeAct] = [:]
        var callActs: [String: CallAct] = [:]
        var judgements: [String: Judgement] = [:]
        var doors: [String: Door] = [:]
        var waiters: [(entry: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let name: String
    private let state = Guarded(State())
    private static let all = Guarded<[String: Probe]>([:])
    private static let made = Atomic(0)

    /// - Parameters:
    ///   - name: What the modules know it by, with a number behind it.
    ///   - file: The test's file.
    init(_ name: String = #function, of file: String = #fileID) {
        self.name = "\(file) \(name) \(Self.made.add(1, ordering: .relaxed).newValue)"
        Probe.all.withLock { $0[self.name] = self }
    }

    static func named(_ name: String) -> Probe? { all.withLock { $0[name] } }

    /// Lets a module do something when it is notified: `"b push"` is module `b` at `push`.
    func when(_ entry: String, _ act: @escaping Act) { state.withLock { $0.acts[entry] = act } }

    /// Lets a module throw so many times when it is notified, and each time where no number is given.
    func fail(_ entry: String, times: Int = .max) {
        let tries = Atomic(0)
        when(entry) { _ in
            if tries.add(1, ordering: .relaxed).newValue <= times { throw TestError() }
        }
    }

    /// Lets a lazy module do something when it is notified, as ``when(_:_:)``.
    func whenLazy(_ entry: String, _ act: @escaping LazyAct) {
        state.withLock { $0.lazyActs[entry] = act }
    }

    func actLazily(_ entry: String, _ module: LazyProbe?) throws {
        note(entry)
        try state.withLock { $0.lazyActs[entry] }?(module)
    }

    /// Lets a module look at the settings that it is notified of.
    func whenChanged(_ module: String, _ act: @escaping ChangeAct) {
        state.withLock { $0.changeActs[module] = act }
    }

    func changed(_ module: String, _ change: ConfigurationChange) {
        state.withLock { $0.changeActs[module] }?(change)
    }

    /// Whether a module does something of the test's when it is notified.
    func hasAct(_ entry: String) -> Bool { state.withLock { $0.acts[entry] != nil } }

    /// Lets a module do something when it is called: `"b act"` is route `act` of module `b`.
    func whenCalled(_ entry: String, _ act: @escaping CallAct) {
        state.withLock { $0.callActs[entry] = act }
    }

    /// Lets an interceptor judge a call: `"g sees x.b/act of x.a"`.
    func whenJudged(_ entry: String, _ judgement: @escaping Judgement) {
        state.withLock { $0.judgements[entry] = judgement }
    }

    /// What has happened so far: `"b push"` is module `b` being notified of `push`.
    var entries: [String] { state.withLock { $0.entries } }

    /// The entries of one event or of one module.
    func entries(_ word: String) -> [String] {
        entries.filter { $0.split(separator: " ").contains(Substring(word)) }
    }

    func note(_ entry: String) {
        let woken = state.withLock { state in
            state.entries.append(entry)
            let woken = state.waiters.filter { $0.entry == entry }
            state.waiters.removeAll { $0.entry == entry }
            return woken
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    func act(_ entry: String, _ module: CallProbe, _ call: RouteCall) throws -> String {
        note(entry)
        return try state.withLock { $0.callActs[entry] }?(module, call) ?? ""
    }

    func judge(_ entry: String, _ call: InterceptedCall) throws -> Interception {
        note(entry)
        return try state.withLock { $0.judgements[entry] }?(call) ?? .proceed
    }

    /// Puts a door before something: a thread that comes to it is noted, and waits.
    func close(_ entry: String) -> Door {
        let door = Door()
        state.withLock { $0.doors[entry] = door }
        return door
    }

    /// Puts a door before something, for the first thread that comes to it.
    func closeOnce(_ entry: String) -> Door {
        let door = Door()
        let isFirst = Atomic(true)
        when(entry) { _ in if isFirst.exchange(false, ordering: .relaxed) { door.pass() } }
        return door
    }

    /// Passes where there is no door, and is not noted then.
    func stand(_ entry: String) {
        guard let door = state.withLock({ $0.doors[entry] }) else { return }
        note(entry)
        door.pass()
    }

    func act(_ entry: String, _ module: ProbeModule) throws {
        note(entry)
        try state.withLock { $0.acts[entry] }?(module)
    }

    /// Does what the test wants at something that is not noted.
    func silently(_ entry: String, _ module: ProbeModule) throws {
        try state.withLock { $0.acts[entry] }?(module)
    }

    /// Waits until an entry is there.
    func reached(_ entry: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.entries.contains(entry) { return true }
                state.waiters.append((entry, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// A door that a handler stands before until the test opens it.
final class Door: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits for the door.
    ///
    /// Once open it stays open.
    func pass() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// An error that a test's module throws.
struct TestError: Error, CustomStringConvertible {
    var description = "broken"
}

/// A responder protocol of the tests' own, for typed messages.
protocol PingResponder: AnyObject {
    func ping(_ text: String) throws
}

/// A member of a center beside the module that adds it.
final class ProbeMember: Module, BackgroundResponder, LaunchResponder, PingResponder, Sendable {
    private let name: String
    private let probe: Probe?

    init(_ name: String, _ probe: Probe) {
        self.name = name
        self.probe = probe
    }

    init(context: ModuleContext) throws { throw TestError(description: "no module by itself") }

    deinit { probe?.note("\(name) deinit") }

    func didFinishLaunching(_ launch: Launch) { probe?.note("\(name) launch") }
    func didEnterBackground() { probe?.note("\(name) background") }
    func ping(_ text: String) { probe?.note("\(name) ping") }
}

/// A module that receives everything, notes it in its probe, and does what the test wants.
final class ProbeModule: Module, ConfiguredModule, RootProvider, LaunchResponder,
    ActivationResponder, BackgroundResponder, TerminationResponder, MemoryWarningResponder,
    RemoteNotificationResponder, NotificationSettingsResponder, LocalNotificationResponder,
    URLResponder, UserActivityResponder, ShortcutResponder, ConfigurationResponder,
    MessageResponder, PingResponder
{
    struct Configuration: Decodable {
        var probe: String
        var root: String?
        var fetch: String?
        var claims: Bool?
        var topics: [String]?
    }

    let context: ModuleContext
    let probe: Probe?
    let name: String
    private var configuration: Configuration

    init(context: ModuleContext) throws {
        self.context = context
        configuration = try context.config()
        probe = Probe.named(configuration.probe)
        name = String(context.id.text.split(separator: ".").last ?? "")
        try notify("init")
    }

    deinit {
        probe?.stand("\(name) deinit")
        probe?.note("\(name) deinit")
    }

    private func notify(_ what: String) throws { try probe?.act("\(name) \(what)", self) }

    var root: String? {
        get throws {
            try probe?.silently("\(name) root", self)
            return configuration.root
        }
    }
    var topics: [String] { configuration.topics ?? ["*"] }

    func didFinishLaunching(_ launch: Launch) throws { try notify("launch") }
    func didBecomeActive() throws { try notify("activate") }
    func willResignActive() throws { try notify("resign-active") }
    func didEnterBackground() throws { try notify("background") }
    func willEnterForeground() throws { try notify("foreground") }
    func willTerminate() throws { try notify("terminate") }
    func didReceiveMemoryWarning() throws { try notify("memory-warning") }
    func didReceiveRemoteNotification(_ notification: RemoteNotification) throws -> FetchResult {
        try notify("push")
        return configuration.fetch.flatMap(FetchResult.init) ?? .noData
    }
    func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws {
        try notify("push-registered")
    }
    func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws {
        try notify("push-registration-failed")
    }
    func didChangeNotificationSettings(_ settings: NotificationSettings) throws {
        try notify("notification-settings")
    }
    func didReceiveLocalNotification(_ notification: LocalNotification) throws {
        try notify("local-notification")
    }
    func open(_ url: String, options: OpenURLOptions) throws -> Bool {
        try notify("open-url")
        return configuration.claims ?? false
    }
    func continueActivity(_ activity: UserActivity) throws -> Bool {
        try notify("user-activity")
        return configuration.claims ?? false
    }
    func performShortcut(_ shortcut: Shortcut) throws -> Bool {
        try notify("shortcut")
        return configuration.claims ?? false
    }
    func configurationDidChange(_ change: ConfigurationChange) throws {
        probe?.changed(name, change)
        try notify("configuration-changed")
    }
    func receive(_ message: Message) throws { try notify("message") }
    func ping(_ text: String) throws { try notify("ping") }
}

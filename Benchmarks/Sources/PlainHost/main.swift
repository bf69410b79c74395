import ModuleHost

// A host as hostd is, of modules that do nothing: the commands are those of hostd, and it is without Foundation, too.

HostCommandLine.run(name: "PlainHost", version: HostVersion.current)

/// The first of them is the main one.
extension RootProvider {
    var root: String? { nil }
}

/// Receives nothing.
final class IdleModule: RootProvider {
    init(context: ModuleContext) {}
}

/// Receives the launch, each activation and the end.
final class ReceivingModule: RootProvider, LaunchResponder, ActivationResponder,
    TerminationResponder
{
    init(context: ModuleContext) {}

    func didFinishLaunching(_ launch: Launch) {}
    func didBecomeActive() {}
    func willResignActive() {}
    func willTerminate() {}
}

/// Answers one URL, which differs from those of all others of its class by the module's name alone.
final class RoutedOneModule: RootProvider, RoutedModule {
    static var routes: [Route<RoutedOneModule>] {
        [Route("number", access: .public) { _, _ in 1 }]
    }

    init(context: ModuleContext) {}
}

package import ModuleHost

/// The first of them is the main one.
extension RootProvider {
    package var root: String? { nil }
}

/// Receives nothing.
package final class IdleModule: RootProvider {
    package init(context: ModuleContext) {}
}

/// Receives the launch, each activation and the end.
package final class ReceivingModule: RootProvider, LaunchResponder, ActivationResponder,
    TerminationResponder
{
    package init(context: ModuleContext) {}

    package func didFinishLaunching(_ launch: Launch) {}
    package func didBecomeActive() {}
    package func willResignActive() {}
    package func willTerminate() {}
}

/// Answers one URL, which differs from those of all others of its class by the module's name alone.
package final class RoutedOneModule: RootProvider, RoutedModule {
    package static var routes: [Route<RoutedOneModule>] {
        [Route("number", access: .public) { _, _ in 1 }]
    }

    package init(context: ModuleContext) {}
}

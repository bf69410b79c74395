import ModuleHostServiceLifecycle

/// The main module of the app, which opens no URL at its start.
final class FrontModule: RootProvider {
    let root: String? = nil

    init(context: ModuleContext) {}
}

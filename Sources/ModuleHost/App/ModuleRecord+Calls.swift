/// A module of the app as the target of calls.
extension ModuleRecord: CallableModule {
    var hasFailed: Bool { isFailed }
    var absenceOfRoutes: String? { entry.ends && module == nil ? unavailability : nil }
    /// The instance, which is about to be called: that is a use of it.
    var instance: AnyObject? {
        use?.note()
        return module
    }
    var place: ModulePlace? { context?.place }
    func callDeadline(_ own: Duration?) -> Duration {
        context?.callDeadline(own) ?? Slatefile.Defaults.call
    }
}

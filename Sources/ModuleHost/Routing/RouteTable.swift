/// The routes of an app, and the search for the one that answers a URL.
///
/// A value: changing a copy does not affect a search in another. A route that may not be reached is not a
/// candidate: the search checks each candidate.
package struct RouteTable: Sendable {
    /// The index of a route in its table; it stays the same until the route is removed.
    package struct Index: Hashable, Sendable {
        /// The position of its module.
        let position: Int
        /// The number of routes that were added to the table before it; never used again.
        let number: Int

        package func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// A route of a module: a class, so that passing it on counts only one reference.
    package final class Entry: Sendable {
        package let index: Index
        package let module: ModuleID
        package let route: AnyRoute
        /// The module's place in the order of the slatefile.
        let position: Int

        init(index: Index, module: ModuleID, route: AnyRoute, position: Int) {
            self.index = index
            self.module = module
            self.route = route
            self.position = position
        }
    }

    /// The route that answers a URL.
    package struct Match: Sendable {
        package let entry: Entry
        /// The parameters of the call.
        package let parameters: RouteParameters

        /// The URL after the rewrites.
        package var url: RouteURL? { parameters.url }
    }

    /// The contents of a table behind one reference: a dozen arrays, which a copy of the table would count
    /// one by one.
    final class Storage: Sendable {
        let contents: Contents
        init(_ contents: Contents) { self.contents = contents }
    }

    private(set) var storage: Storage
    var contents: Contents {
        @inline(__always) get { storage.contents }
    }

    /// Creates a table without routes.
    ///
    /// - Parameters:
    ///   - schemes: The app's schemes.
    ///   - modules: The modules, in the order of the slatefile.
    ///   - fallback: The module that answers URLs that no other route answers.
    ///   - rewrites: The rewrites of URLs before they are matched.
    /// - Throws: ``RouteError`` for a rewrite that cannot be applied.
    package init(
        schemes: [String], modules: [ModuleID], fallback: ModuleID? = nil,
        rewrites: [RouteRewrite] = []
    ) throws(RouteError) {
        self.init(
            schemes: schemes, modules: modules, fallback: fallback,
            rewrites: try RouteRewrites(rewrites))
    }

    /// The modules that the app was composed without, and the reason; nil for none.
    var leftOut: LeftOutModules?

    /// The URLs that are opened instead of failed modules; nil where no module has one.
    package var instead: InsteadURLs?

    /// Modules of the slatefile that are not part of the app.
    final class LeftOutModules: Sendable {
        let modules: Set<String>
        let reason: String

        init(_ modules: [ModuleID], _ reason: String) {
            self.modules = Set(modules.map { $0.text.lowercased() })
            self.reason = reason
        }

        /// Returns the error for calls of a module; nil where it is not one of these.
        func error(for module: String) -> RouteError? {
            guard modules.contains(module.lowercased()) else { return nil }
            return .unavailable(ModuleID(checked: module), because: reason)
        }
    }

    init(schemes: [String], modules: [ModuleID], fallback: ModuleID?, rewrites: RouteRewrites) {
        storage = Storage(
            Contents(
                schemes: schemes.map { $0.lowercased() }, modules: modules, fallback: fallback,
                rewrites: rewrites))
    }

    /// The app's schemes, in lower case, the first of which builds URLs.
    package var schemes: [String] { contents.schemes }
    /// The modules, in the order of the slatefile.
    package var modules: [ModuleID] { contents.modules }
    /// The module that answers URLs that no other route answers.
    package var fallback: ModuleID? { contents.fallback }

    /// The routes, in the order of the slatefile and, for one module, in the order in which they were added.
    package var routes: [Entry] { Array(contents.entries) }

    /// Returns the routes of a module, in the order in which they were added.
    func routes(at position: Int) -> [Entry] { contents.entriesByModule[position] }

    package subscript(index: Index) -> Entry? { contents.entry(index) }

    /// Returns whether neither this table nor another was changed since one was copied from the other.
    func isIdentical(to other: RouteTable) -> Bool { storage === other.storage }

    // MARK: Changes

    /// Adds a module, behind the others.
    mutating func append(_ module: ModuleID) { change { $0.append(module) } }

    /// Adds a route.
    ///
    /// - Throws: ``RouteError/conflict(_:of:with:ofModule:)`` where a route answers the same URLs, in which
    ///   case nothing is added.
    @discardableResult
    package mutating func add(
        _ route: AnyRoute, of module: ModuleID
    ) throws(RouteError) -> Index {
        try change { contents throws(RouteError) in try contents.add(route, of: module) }
    }

    /// Removes exactly one route; other routes of the same patterns stay.
    ///
    /// - Returns: The route, or nil where it was removed before.
    @discardableResult
    package mutating func remove(_ index: Index) -> Entry? { change { $0.remove(index) } }

    /// Removes the route of a module that has this pattern, as it was written.
    @discardableResult
    package mutating func remove(_ pattern: String, of module: ModuleID) -> Entry? {
        guard let position = contents.position(of: module) else { return nil }
        let entry = routes(at: position).first { $0.route.pattern.text == pattern }
        return entry.flatMap { remove($0.index) }
    }

    /// Changes the contents: in place if no copy of the table has them too.
    private mutating func change<Result, Failure: Error>(
        _ body: (inout Contents) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var contents = storage.contents
        // Released, so that only `contents` references the arrays, which would be copied otherwise.
        storage = Self.nothing
        defer { storage = Storage(contents) }
        return try body(&contents)
    }

    private static let nothing = Storage(Contents())
}

extension Compose {
    /// Checks a package out, or takes it where it is; that has a link in the folder of checkouts.
    ///
    /// So packages that name each other by `../NAME` find each other, wherever they are.
    func packageCheckout(
        _ package: ComposePlan.Package, _ checkouts: Checkouts, _ lock: ComposeLock,
        _ folder: ComposeFolder
    ) throws(ComposeError) -> Checkout {
        let (source, user) = (package.source, package.ids[0])
        let checkout = try prepare(source, source.name, user, checkouts, lock)
        if source.repository == nil {
            try link(source.name, to: checkout.folder, for: "module '\(user)'", in: folder)
        }
        return checkout
    }

    /// Checks the package ModuleHost out, or makes a link to its folder.
    ///
    /// A folder of another name would be another package for SwiftPM: the link gives it the name.
    func hostCheckout(
        _ checkouts: Checkouts, _ lock: ComposeLock, _ folder: ComposeFolder
    ) throws(ComposeError) -> Checkout {
        let checkout = try prepare(plan.host, Self.hostFolder, Self.host, checkouts, lock)
        guard plan.host.repository == nil else { return checkout }
        guard fileExists("\(checkout.folder)/Sources/ModuleHost") else {
            throw ComposeError("the package ModuleHost is not in \(checkout.folder)", .noInput)
        }
        return Checkout(
            source: checkout.source,
            folder: try link(
                Self.hostFolder, to: checkout.folder, for: "the package ModuleHost", in: folder),
            commit: checkout.commit, isModified: checkout.isModified)
    }

    /// Makes a link in the folder of checkouts.
    ///
    /// - Returns: Its path.
    @discardableResult
    private func link(
        _ name: String, to target: String, for user: String, in folder: ComposeFolder
    ) throws(ComposeError) -> String {
        let path = "\(folder.modules)/\(name)"
        guard isLink(path) || !NewFiles.isTaken(path) else {
            throw ComposeError(
                "\(path) is a checkout, while \(user) is in the folder \(target); move the checkout away",
                .cannotCreate)
        }
        try ComposeError.files { () throws(FileError) in try makeLink(path, to: target) }
        return path
    }
}

import AppService

/// A package at the commit at which it is composed.
struct Checkout {
    let source: PackageSource
    /// The folder of the package.
    let folder: String
    /// The commit; nil for a folder that is not a repository.
    let commit: String?
    /// Whether files differ from the commit.
    let isModified: Bool
}

/// The checkouts of repositories, in the folder of an app.
struct Checkouts {
    let folder: ComposeFolder
    let git: Git
    let progress: ComposeProgress

    /// Makes a package be there at its commit.
    ///
    /// A checkout that is at the commit already is left alone, whatever was changed in it; so is one with
    /// commits of its own on top of the commit. One whose files or commits would be lost is an error.
    ///
    /// - Parameters:
    ///   - source: The package.
    ///   - name: The name of its folder.
    ///   - commit: The commit of the pin.
    ///   - module: The module, for messages.
    /// - Returns: The checkout.
    /// - Throws: ``ComposeError``.
    func prepare(
        _ source: PackageSource, as name: String, at commit: String, for module: String
    ) throws(ComposeError) -> Checkout {
        let path = "\(folder.modules)/\(name)"
        // Of a slatefile that had a folder there before.
        if isLink(path) { try ComposeError.files { () throws(FileError) in try removeFile(path) } }
        guard NewFiles.isTaken(path) else {
            return try clone(source, to: path, name, at: commit, for: module)
        }
        guard fileExists("\(path)/.git"), let head = try git.line(["rev-parse", "HEAD"], in: path)
        else {
            throw ComposeError(
                "\(module): \(path) is not a checkout that compose made; move it away",
                .cannotCreate)
        }
        try follow(source, in: path)
        let isModified = try isModified(path)
        if head == commit {
            if isModified { progress.note("\(name): local changes are used") }
            return Checkout(source: source, folder: path, commit: head, isModified: isModified)
        }
        if let work = Self.unfinishedWork(in: path) {
            throw ComposeError(
                """
                \(module): \(path) has an unfinished \(work), and is at \(head.prefix(12)), while the app takes \
                \(commit.prefix(12)); nothing was changed there
                finish it, or end it by 'git \(work) --abort', and compose again
                """)
        }
        let own = try ownCommits("HEAD", in: path)
        if own > 0 || isModified {
            return try keep(
                source, path, name, Heads(now: head, wanted: commit, own: own, isModified), module)
        }
        try fetch(source, in: path, name, until: commit, for: module)
        try requireNothingLost(source, in: path, at: commit, for: module)
        try checkOut(commit, of: source, in: path, for: module)
        progress.note("\(name): \(head.prefix(12)) → \(commit.prefix(12))")
        return Checkout(source: source, folder: path, commit: commit, isModified: false)
    }

    /// Returns the package of a folder that is used in place.
    func describe(_ source: PackageSource, in folder: String) throws(ComposeError) -> Checkout {
        guard let commit = try git.line(["rev-parse", "HEAD"], in: folder), Git.isCommit(commit)
        else {
            return Checkout(source: source, folder: folder, commit: nil, isModified: false)
        }
        return Checkout(
            source: source, folder: folder, commit: commit, isModified: try isModified(folder))
    }

    /// Returns the commit of a reference in the repository.
    ///
    /// - Throws: ``ComposeError`` also where there is no such branch or tag, with the most similar one.
    func resolve(_ source: PackageSource, for module: String) throws(ComposeError) -> String {
        let remote = try git.remote(
            source, for: module,
            alternative:
                "; with pins in the lock and whole checkouts, compose needs no network")
        if let commit = remote.commit(at: source.reference) { return commit }
        let (kind, name, folder, plural) =
            switch source.reference {
            case .branch(let name)?: ("branch", name, "refs/heads/", "branches")
            case .tag(let name)?: ("tag", name, "refs/tags/", "tags")
            case nil: ("commit", "HEAD", "refs/heads/", "branches")
            }
        let names = remote.names(in: folder)
        let nearest = nearestName(to: name, in: names).map { "; did you mean \(quoted($0))?" }
        let listed =
            names.isEmpty
            ? "it has no \(plural)"
            : "its \(plural) are \(names.prefix(8).map { quoted($0) }.joined(separator: ", "))"
                + (names.count > 8 ? ", …" : "")
        throw ComposeError(
            "\(module): \(source.location) has no \(kind) '\(name)'\(nearest ?? "; \(listed)")",
            .unavailable)
    }

    // MARK: Existing checkouts

    private struct Heads {
        let now: String
        let wanted: String
        /// The number of commits that no branch or tag of the repository has.
        let own: Int
        let isModified: Bool

        init(now: String, wanted: String, own: Int, _ isModified: Bool) {
            (self.now, self.wanted, self.own, self.isModified) = (now, wanted, own, isModified)
        }
    }

    /// Keeps a checkout with work of its own, where that is on top of the pin.
    private func keep(
        _ source: PackageSource, _ path: String, _ name: String, _ heads: Heads, _ module: String
    ) throws(ComposeError) -> Checkout {
        let isAncestor = try git.run(
            ["merge-base", "--is-ancestor", heads.wanted, heads.now], in: path
        ).isSuccess
        guard isAncestor, heads.own > 0 else {
            let (what, remedy) =
                heads.isModified
                ? ("has local changes", "commit and push them, or 'git stash' them")
                : ("has commits that are nowhere else", "push them, or remove them by 'git reset'")
            throw ComposeError(
                """
                \(module): \(path) \(what), and is at \(heads.now.prefix(12)), while the app takes \
                \(heads.wanted.prefix(12)); nothing was changed there
                \(remedy), and compose again
                """)
        }
        progress.note(
            "\(name): \(heads.own) \(heads.own == 1 ? "commit" : "commits") ahead of the lock\(heads.isModified ? " and local changes" : ""), used as it is"
        )
        return Checkout(
            source: source, folder: path, commit: heads.now, isModified: heads.isModified)
    }

    /// Returns the command of git that has begun in a checkout and has not ended; nil for none.
    ///
    /// Checking out another commit would silently end a merge that has changed no files.
    private static func unfinishedWork(in path: String) -> String? {
        let traces = [
            ("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert"),
            ("rebase-merge", "rebase"), ("rebase-apply", "rebase"),
        ]
        return traces.first { fileExists("\(path)/.git/\($0.0)") }?.1
    }

    /// Returns whether files differ from the commit, apart from the caches that Python writes beside modules.
    private func isModified(_ path: String) throws(ComposeError) -> Bool {
        let result = try git.run(
            [
                "status", "--porcelain", "--ignore-submodules=all", "--untracked-files=normal",
                "--", ".", ":(exclude,glob)**/\(Fingerprint.cacheFolder)/**",
            ],
            in: path)
        return !result.isSuccess || !result.output.isEmpty
    }

    /// Returns the number of commits up to `reference` that no branch or tag of the repository has.
    private func ownCommits(_ reference: String, in path: String) throws(ComposeError) -> Int {
        let count = try git.line(
            ["rev-list", "--count", reference, "--not", "--remotes", "--tags"], in: path)
        return count.flatMap { Int($0) } ?? 1
    }

    /// Requires that the branch that is to be checked out has no commits of its own beyond `commit`: another
    /// branch is checked out now, and the commits of this one would be lost.
    private func requireNothingLost(
        _ source: PackageSource, in path: String, at commit: String, for module: String
    ) throws(ComposeError) {
        guard case .branch(let name)? = source.reference else { return }
        let branch = "refs/heads/\(name)"
        guard try git.line(["rev-parse", "--verify", "--quiet", branch], in: path) != nil,
            try ownCommits(branch, in: path) > 0
        else { return }
        throw ComposeError(
            """
            \(module): the branch '\(excerpt(name, limit: 200))' in \(path) has commits that are nowhere else, \
            while the app takes \(commit.prefix(12)); nothing was changed there
            push them, or check the branch out to compose with it
            """)
    }

    /// Lets a checkout follow another address of the repository.
    private func follow(_ source: PackageSource, in path: String) throws(ComposeError) {
        let address = try git.line(["config", "--get", "remote.origin.url"], in: path)
        guard address != source.location else { return }
        _ = try git.run(["config", "remote.origin.url", source.location], in: path)
    }

    // MARK: Cloning and fetching

    /// Clones into another name first: a checkout that is there is whole.
    private func clone(
        _ source: PackageSource, to path: String, _ name: String, at commit: String,
        for module: String
    ) throws(ComposeError) -> Checkout {
        progress.note("\(name): cloning \(source.words)")
        let new = "\(folder.modules)/\(ComposeFolder.unfinished)\(CurrentProcess.id)-\(name)"
        let result = try git.run(
            [
                "clone", "--no-checkout", "--no-recurse-submodules", "--progress",
                "--template=", "--", source.location, new,
            ], status: "\(name)")
        guard result.isSuccess else {
            throw ComposeError(
                """
                \(module): git cannot clone \(source.location):\(result.reason)
                check the address, the network and your access
                """, .unavailable)
        }
        try fetch(source, in: new, name, until: commit, for: module)
        try checkOut(commit, of: source, in: new, for: module)
        try ComposeError.files { () throws(FileError) in try renameFile(new, to: path) }
        return Checkout(source: source, folder: path, commit: commit, isModified: false)
    }

    /// Fetches, unless the commit is there already.
    private func fetch(
        _ source: PackageSource, in path: String, _ name: String, until commit: String,
        for module: String
    ) throws(ComposeError) {
        func hasCommit() throws(ComposeError) -> Bool {
            try git.run(["cat-file", "-e", "\(commit)^{commit}"], in: path).isSuccess
        }
        if try hasCommit() { return }
        progress.note("\(name): fetching \(source.words)")
        let result = try git.run(
            [
                "fetch", "--no-recurse-submodules", "--tags", "--force", "--progress", "origin",
                "+refs/heads/*:refs/remotes/origin/*",
            ], in: path, status: "\(name)")
        if result.isSuccess, try hasCommit() { return }
        guard result.isSuccess else {
            throw ComposeError(
                """
                \(module): git cannot fetch \(source.location):\(result.reason)
                check the address, the network and your access
                """, .unavailable)
        }
        throw ComposeError(
            """
            \(module): \(source.location) does not have the commit \(commit.prefix(12)) of the lock: \
            it was removed there, or never pushed
            push it, or move the pin by 'compose --update \(module)'
            """, .unavailable)
    }

    /// Checks a commit out: on a branch of the same name where the slatefile names one, so that work on it
    /// can be committed and pushed.
    private func checkOut(
        _ commit: String, of source: PackageSource, in path: String, for module: String
    ) throws(ComposeError) {
        // Without the option git replaces ignored files, such as local settings and keys.
        var arguments = ["checkout", "--quiet", "--no-recurse-submodules", "--no-overwrite-ignore"]
        var branch: String?
        if case .branch(let name)? = source.reference {
            branch = name
            arguments += ["-B", name, commit, "--"]
        } else {
            arguments += ["--detach", commit, "--"]
        }
        let result = try git.run(arguments, in: path)
        guard result.isSuccess else {
            throw ComposeError(
                """
                \(module): git cannot check out \(commit.prefix(12)) in \(path):\(result.reason)
                nothing was changed there; move files away that are in the way, and compose again
                """)
        }
        if let branch {
            _ = try git.run(
                ["branch", "--quiet", "--set-upstream-to=origin/\(branch)", branch], in: path)
        }
    }
}

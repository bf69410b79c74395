/// The commands of git that composing needs, each run with the same few variables.
///
/// A repository is not trusted here: no command that it could name is run, and nothing of it is taken for an
/// option. Texts from the slatefile were checked by ``SourceRules``, and stand behind `--` or within `refs/`.
struct Git {
    let program: String
    let children: ComposeChildren

    /// The options before every command: no helper programs named by URLs, no hooks, no submodules.
    private static let options = [
        "-c", "protocol.ext.allow=never", "-c", "core.hooksPath=/dev/null",
        "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false",
        "-c", "fetch.recurseSubmodules=false", "-c", "advice.detachedHead=false",
    ]

    /// The variables that are passed on: where things are, and how hosts are reached.
    ///
    /// Those that would direct git to another repository are not.
    private static let passedOn: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
        "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR",
        "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY",
        "NO_PROXY",
    ]

    /// Returns the variables of git: it asks nothing of a person, and says everything in English.
    static func variables(_ environment: [String: String]) -> [String: String] {
        var variables = environment.filter { passedOn.contains($0.key) }
        variables["GIT_TERMINAL_PROMPT"] = "0"
        variables["LC_ALL"] = "C"
        if variables["GIT_SSH_COMMAND"] == nil {
            variables["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
        }
        return variables
    }

    /// Returns whether the text is a commit: all digits of a SHA-1 or a SHA-256.
    static func isCommit(_ text: String) -> Bool {
        (text.utf8.count == 40 || text.utf8.count == 64)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// The result of a command.
    struct Result {
        let isSuccess: Bool
        /// Its lines, at most ``limit`` of each stream.
        let output: [String]
        let error: [String]
    }

    /// The lines of a command that are kept: a repository with more references than that cannot be used.
    private static let limit = 200_000

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - arguments: The command with its arguments.
    ///   - folder: The working tree; nil for a command that needs none.
    ///   - status: What to show of it, while it runs; nil for nothing.
    /// - Returns: The result.
    /// - Throws: ``ComposeError`` where git cannot be started, or is interrupted.
    func run(
        _ arguments: [String], in folder: String? = nil, status: TerminalText? = nil
    ) throws(ComposeError) -> Result {
        var output: [String] = []
        var error: [String] = []
        let place = folder.map { ["-C", $0] } ?? []
        let exit = try children.run(
            [program] + Self.options + place + arguments, Self.variables(children.environment)
        ) { stream, line in
            let text = String(decoding: line, as: UTF8.self)
            switch stream {
            case .output: if output.count < Self.limit { output.append(text) }
            case .error:
                if let status { children.progress.show("\(status): \(excerpt(text, limit: 60))") }
                if error.count < Self.limit { error.append(text) }
            }
        }
        return Result(isSuccess: exit == .code(0), output: output, error: error)
    }

    /// Returns the only line of a command; nil where it fails.
    func line(_ arguments: [String], in folder: String) throws(ComposeError) -> String? {
        let result = try run(arguments, in: folder)
        return result.isSuccess ? result.output.first : nil
    }
}

extension Git.Result {
    /// The last lines of the errors, for a message.
    var reason: TerminalText {
        // The folder that it clones into is a name of compose, and gone.
        let lines = error.filter { !$0.isEmpty && !$0.hasPrefix("Cloning into ") }.suffix(6)
        return lines.map { line -> TerminalText in
            // Git indents the names of files by a tab.
            let text = String(line.map { $0 == "\t" ? " " : $0 })
            return "\n    \(excerpt(text, limit: 300))"
        }.joined()
    }
}

extension Git {
    /// The references of a remote repository.
    struct Remote {
        /// Commits by full names, such as `refs/heads/main`.
        let commits: [String: String]

        /// Returns the commit of a branch or a tag; of the default branch where `reference` is nil.
        func commit(at reference: Slatefile.GitReference?) -> String? {
            switch reference {
            case .branch(let name)?: commits["refs/heads/\(name)"]
            // Of a tag with a message: the commit that it is for.
            case .tag(let name)?: commits["refs/tags/\(name)^{}"] ?? commits["refs/tags/\(name)"]
            case nil: commits["HEAD"]
            }
        }

        /// The names of branches, or of tags, sorted.
        func names(in folder: String) -> [String] {
            commits.keys.filter { $0.hasPrefix(folder) && !$0.hasSuffix("^{}") }
                .map { String($0.dropFirst(folder.count)) }.sorted()
        }
    }

    /// Asks a repository for its references.
    ///
    /// - Parameters:
    ///   - source: The repository.
    ///   - module: The subject of errors.
    ///   - alternative: What to do without the network, as the end of a sentence.
    /// - Returns: The references.
    /// - Throws: ``ComposeError`` where git cannot read the repository.
    func remote(
        _ source: PackageSource, for module: String, alternative: String = ""
    ) throws(ComposeError) -> Remote {
        let result = try run(
            ["ls-remote", "--quiet", "--", source.location],
            status: "\(source.name): asking \(excerpt(source.location, limit: 100))")
        guard result.isSuccess else {
            throw ComposeError(
                """
                \(module): git cannot read \(source.location):\(result.reason)
                check the address, the network and your access\(alternative)
                """, .unavailable)
        }
        var commits: [String: String] = [:]
        for line in result.output {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2, Self.isCommit(String(parts[0])) {
                commits[String(parts[1])] = String(parts[0])
            }
        }
        return Remote(commits: commits)
    }
}

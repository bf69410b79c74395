import Glibc
import TestSupport
import Testing

@testable import ModuleHost

/// Git repositories in a folder, a slatefile that names them, and a stand-in for SwiftPM.
///
/// Git is the real one. Building a real host takes minutes, and is tried by `Examples/bundle-app/try`: here
/// `swift` is a script that notes its calls, describes a package by the file `describe.json` in it, and
/// "builds" a program that does what the file `program` in the folder says. The file `newest` is the
/// `Package.resolved` with the newest versions of other packages, and `resources` has folders of resources.
/// The script `at-build` is a part of each build.
final class ComposeFixture {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try shell("mkdir -p tools host/Sources/ModuleHost repos")
        try folder.write(Self.swift, to: "tools/swift")
        try folder.write("exit 0\n", to: "program")
        try folder.write("// the host\n", to: "host/Package.swift")
        try folder.write(
            Self.description(of: ["ModuleHost", "Modules"]), to: "host/describe.json")
        try shell(
            #"chmod +x tools/swift; for t in git sh cat cp mkdir rm sleep; do ln -s "$(command -v $t)" tools/$t; done"#
        )
    }

    /// Notes its arguments, and describes or builds.
    private static let swift = #"""
        #!/bin/sh
        root=${0%/tools/swift}
        echo "$1 $3" >>"$root/.calls"
        resolved=$3/Package.resolved
        if [ "$6" = update ]; then exec cp "$root/newest" "$resolved"; fi
        if [ "$1" = package ]; then
            [ ! -f "$root/describe-fails" ] || { echo "error: manifest" >&2; exit 1; }
            exec cat "$3/describe.json"
        fi
        echo "[1/2] Compiling"
        [ ! -f "$root/build-fails" ] || { cat "$root/build-fails"; exit 1; }
        if [ -f "$root/build-hangs" ]; then
            # As SwiftPM, which ends its compilers with this signal alone.
            trap ': >"$root/cancelled"; exit 1' INT
            : >"$root/hangs"
            sleep 600
        fi
        # As SwiftPM: takes the versions that are pinned, and else the newest.
        [ -f "$resolved" ] || [ ! -f "$root/newest" ] || cp "$root/newest" "$resolved"
        [ ! -f "$root/at-build" ] || . "$root/at-build"
        mkdir -p "$5/debug"
        [ ! -d "$root/resources" ] || cp -R "$root/resources/." "$5/debug"
        { echo '#!/bin/sh'; cat "$root/program"; } >"$5/debug/ComposedHost"
        """#

    /// Returns the output of `swift package describe` for a package with one library for each target.
    static func description(of targets: [String], type: String = #"{"library": ["automatic"]}"#)
        -> String
    {
        let products = targets.map {
            #"{"name": "\#($0)", "targets": ["\#($0)"], "type": \#(type)}"#
        }
        let rest = targets.map {
            #"{"name": "\#($0)", "type": "library", "product_memberships": ["\#($0)"]}"#
        }
        return """
            {"name": "x", "dependencies": [], "products": [\(products.joined(separator: ", "))],
             "targets": [\(rest.joined(separator: ", "))]}
            """
    }

    /// Runs a script in the folder.
    @discardableResult
    func shell(_ script: String) throws -> String {
        let outcome = try HostProcess.run(
            ["-ec", script], program: "/bin/sh", in: folder.path,
            environment: [
                "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
                "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
                "GIT_CONFIG_GLOBAL": "/dev/null",
            ])
        try #require(outcome.exit == .code(0), "\(script): \(outcome.error)")
        return outcome.output.hasSuffix("\n") ? String(outcome.output.dropLast()) : outcome.output
    }

    /// Makes a bare repository `repos/NAME.git` with one commit on `main`, and a working tree `work/NAME`.
    func repository(_ name: String, targets: [String]) throws {
        try shell(
            """
            mkdir -p work/\(name); cd work/\(name); git init -q -b main .
            git init -q --bare -b main ../../repos/\(name).git
            git remote add origin ../../repos/\(name).git
            """)
        try folder.write("// \(name)\n", to: "work/\(name)/Package.swift")
        try commit(name, Self.description(of: targets), to: "describe.json")
    }

    /// Commits and pushes a file.
    func commit(_ name: String, _ text: String, to file: String, tag: String? = nil) throws {
        try folder.write(text, to: "work/\(name)/\(file)")
        try shell(
            """
            cd work/\(name); git add .; git commit -q -m change
            \(tag.map { "git tag -a -m \($0) \($0)" } ?? ":")
            git push -q --follow-tags origin HEAD
            """)
    }

    /// The commit at the head of a repository.
    func head(_ name: String) throws -> String { try shell("git -C work/\(name) rev-parse HEAD") }

    /// Writes a slatefile with these modules beside a main one.
    func slatefile(_ modules: String...) throws {
        let main = #"{"id": "x.main", "entry": "Modules.MainModule", "main": true}"#
        try folder.write(
            """
            {"slate": 1, "app": "app", "host": {"path": "host"}, "modules": [
              \(([main] + modules).joined(separator: ",\n  "))
            ]}
            """, to: "slatefile.json")
    }

    /// A module of a repository.
    static func module(_ name: String, _ rest: String = "", target: String? = nil) -> String {
        let target = target ?? name.prefix(1).uppercased() + name.dropFirst()
        return """
            {"id": "x.\(name)", "entry": "\(target).M", "git": "repos/\(name).git"\
            \(rest.isEmpty ? "" : ", ")\(rest)}
            """
    }

    func start(_ arguments: [String] = [], tools: String = "tools") throws -> HostProcess {
        try HostProcess(
            ["compose"] + arguments, in: folder.path,
            environment: ["PATH": folder.path(tools), "HOME": folder.path])
    }

    @discardableResult
    func compose(_ arguments: String..., tools: String = "tools") throws -> HostProcess.Outcome {
        try start(arguments, tools: tools).waitForExit()
    }

    /// Composes, and requires that it succeeds.
    @discardableResult
    func composed(_ arguments: String...) throws -> HostProcess.Outcome {
        let outcome = try start(arguments).waitForExit()
        try #require(outcome.exit == .code(0), "\(outcome.error)")
        return outcome
    }

    /// The errors of a compose that fails with a code.
    func failure(_ code: ExitCode, _ arguments: String...) throws -> String {
        let outcome = try start(arguments).waitForExit()
        #expect(outcome.exit == .code(code.rawValue), "\(outcome.error)")
        return outcome.error.replacing(folder.path, with: "…")
    }

    /// The calls of `swift` since the last question.
    func calls() throws -> [String] {
        defer { unlink(folder.path(".calls")) }
        let text = (try? folder.text(of: ".calls")) ?? ""
        return text.replacing(folder.path, with: "…").split(separator: "\n").map(String.init)
    }
}

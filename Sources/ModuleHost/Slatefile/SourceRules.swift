/// The rules for sources of modules, which become arguments of git and names of folders.
///
/// Each returns the reason why a text is not accepted, with the remedy; nil where it is.
package enum SourceRules {
    /// Checks the URL or the path of a repository.
    ///
    /// Accepted are `https`, `ssh`, `git` and `file` URLs, the short form `user@host:path` of ssh, and paths:
    /// git would start a program for some others, and take a text with a hyphen for an option.
    package static func problem(ofRepository text: String) -> String? {
        if let problem = problem(of: text, "a repository", limit: Slatefile.Limits.sourceLength) {
            return problem
        }
        if text.contains(bytesOf: "::") {
            return "\(quoted(text)) would start a program of git; \(forms)"
        }
        guard let end = text.firstRange(ofBytes: "://") else { return shortFormProblem(text) }
        guard ["https", "ssh", "git", "file"].contains(text[..<end.lowerBound]) else {
            return "\(quoted(text)) has a transport that compose does not use; \(forms)"
        }
        let authority = text[end.upperBound...].prefix { $0 != "/" }
        let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
        if parts.contains(where: { $0.hasPrefix("-") }) {
            return "\(quoted(text)) has a host or a user that begins with a hyphen"
        }
        if parts.count > 1, parts.dropLast().contains(where: { $0.contains(":") }) {
            return "a URL with a password would be copied to the lock file: "
                + "leave the password out, and give it to git by a credential helper"
        }
        return nil
    }

    /// Checks `user@host:path`, or a path.
    private static func shortFormProblem(_ text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let host = text[..<colon]
        // A path with a colon, as git sees it.
        if host.contains("/") { return nil }
        let parts = host.split(separator: "@", omittingEmptySubsequences: false)
        let isHost = parts.allSatisfy { part in
            !part.isEmpty && !part.hasPrefix("-")
                && part.utf8.allSatisfy { isName($0) }
        }
        return isHost && parts.count <= 2 ? nil : "\(quoted(text)) is not a repository; \(forms)"
    }

    private static let forms =
        "a repository is an https, ssh, git or file URL, user@host:path, or a path"

    /// Checks the name of a branch or a tag, by the rules of `git check-ref-format`.
    package static func problem(ofReference text: String) -> String? {
        if let problem = problem(
            of: text, "a branch or a tag", limit: Slatefile.Limits.referenceLength)
        {
            return problem
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isValid =
            !text.utf8.contains(where: { " ~^:?*[\\".utf8.contains($0) })
            && !text.contains(bytesOf: "..") && !text.contains(bytesOf: "@{") && text != "@"
            && !text.hasSuffix(".")
            && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && !$0.hasSuffix(".lock") }
        if text == "HEAD" {
            return "'HEAD' stands for the default branch of a repository: leave it out"
        }
        return isValid ? nil : "\(quoted(text)) is not the name of a branch or a tag in git"
    }

    /// Checks the path of a folder.
    package static func problem(ofFolder text: String) -> String? {
        problem(of: text, "a path", limit: Slatefile.Limits.sourceLength)
    }

    /// Checks the name of a product, which becomes a part of a `Package.swift`.
    package static func problem(ofProduct text: String) -> String? {
        if let problem = problem(of: text, "a product", limit: Slatefile.Limits.referenceLength) {
            return problem
        }
        return text.utf8.allSatisfy { isName($0) || $0 == UInt8(ascii: " ") }
            ? nil
            : "\(quoted(text)) is not the name of a product: letters, digits, '-', '_' and '.'"
    }

    /// Returns whether the byte may be part of the name of a host, a product, or a folder that compose makes.
    package static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func problem(of text: String, _ what: String, limit: Int) -> String? {
        if text.utf8.count > limit { return "\(what) has at most \(limit) bytes" }
        if text.hasPrefix("-") {
            return "\(quoted(text)) begins with a hyphen, as an option does: "
                + "\(what) must begin with another character"
        }
        let hidden = text.unicodeScalars.first { printable($0) != $0 }
        return hidden.map { "\(what) cannot have the character \(named($0))" }
    }
}

import Testing

@testable import ModuleHostCore

extension Grant {
    /// A grant of these scopes, in an app whose schemes are `s` and `t`.
    static func of(_ scopes: String...) throws -> Grant {
        Grant(
            name: "test",
            scopes: try scopes.map { Scope(try RoutePattern($0), appSchemes: ["s", "t"]) })
    }
}

extension TokenStore {
    /// A store of the tokens of a file's text, in an app whose scheme is `s`.
    static func of(_ text: String) throws -> TokenStore {
        try read(Array(text.utf8), path: "tokens.json", schemes: ["s"])
    }

    /// What is said of a file's text, or nil where it is sound.
    static func rendering(of text: String) -> String? {
        do throws(SlatefileError) {
            _ = try read(Array(text.utf8), path: "tokens.json", schemes: ["s"])
            return nil
        } catch {
            return error.rendered(colored: false)
        }
    }
}

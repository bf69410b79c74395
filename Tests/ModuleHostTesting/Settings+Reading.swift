import ModuleHostCore

extension TestHost.Settings {
    /// Reads and checks a slatefile and the tokens of its app.
    func read(_ text: String) throws -> (Slatefile, TokenStore) {
        let slatefile = try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { environment[$0] },
            checkEntry: isChecked ? EntryUse.checkAgainstBinary() : nil)
        let tokens = try tokens.map {
            try TokenStore.read(Array($0.utf8), path: "tokens.json", schemes: slatefile.schemes)
        }
        return (slatefile, tokens ?? .empty)
    }
}

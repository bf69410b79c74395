/// The use of a class as the entry of a module in a slatefile, for a check against the running binary.
package struct EntryUse: Sendable {
    /// The module's name; nil where the slatefile has a diagnostic for it.
    package internal(set) var module: ModuleID?
    /// The entry as it is written, such as `Modules.PushModule`.
    ///
    /// Where it does not have that form there is a diagnostic already, for which a check may provide a better
    /// message.
    package let entry: String
    /// Whether the module is the main one.
    package let isMain: Bool
    /// Whether the module is made when it is needed.
    package internal(set) var isLazy = false
    /// Whether the slatefile says where the source of the module is (`git`, `path`).
    package internal(set) var hasSource = false
    /// Whether the module runs in the host or in a process of its own; nil if the slatefile does not say.
    package internal(set) var isolation: Slatefile.Isolation?
    /// The module's own settings.
    package let config: JSONValue?
    /// The settings of the app.
    package let appConfig: JSONValue?
}

/// A problem in the use of an entry, or a check of it that has to wait.
package enum EntryDiagnostic {
    /// A problem of the entry itself: the message is reported at the entry.
    case entry(String)
    /// A problem of the settings: each diagnostic of decoding them is reported at its own place.
    case config(UnplacedJSONError)
    /// A check of the uses of other modules, made once all of them are known: each text that it returns is
    /// reported at the entry. It is not made where a module is not valid.
    case uses((Slatefile) -> [String])
}

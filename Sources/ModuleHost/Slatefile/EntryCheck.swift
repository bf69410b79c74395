/// The use of a class as the entry of a module in a slatefile, for a check against the running binary.
package struct EntryUse: Sendable {
    /// The module's name; nil where that is a fault.
    package internal(set) var module: ModuleID?
    /// The entry as it is written, such as `Modules.PushModule`.
    ///
    /// Where it has not that form it is a fault already, for which a check may find better words.
    package let entry: String
    /// Whether the module is the main one.
    package let isMain: Bool
    /// Whether the module runs in the host or in a process of its own; nil if the slatefile does not say.
    package internal(set) var isolation: Slatefile.Isolation?
    /// The module's own settings.
    package let config: JSONValue?
    /// The settings of the app.
    package let appConfig: JSONValue?
}

/// A fault in the use of an entry.
package enum EntryFault: Sendable {
    /// With the entry itself: its message stands at the entry.
    case entry(String)
    /// With its settings: each fault of decoding them stands at its own place.
    case config(JSONError)
}

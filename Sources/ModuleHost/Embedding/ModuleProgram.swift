import AppService

/// A module that is a program of its own, which any host starts as the `command` of an entry.
///
/// ```swift
/// import ModuleHostCore
///
/// ModuleProgram.run(ParcelModule.self)
/// ```
///
/// The program is built without the host, and needs nothing of it: it speaks the protocol of `docs/isolated-modules.md`.
/// A module as a program has no services of others, and all else that a Swift module with `"isolation": "process"` has.
public enum ModuleProgram {
    /// Runs the module until its host ends, or asks it to end, and ends the process.
    ///
    /// - Thread: The main thread, first in `main`. Signals have their default actions from then on.
    /// - Output: Standard output belongs to the protocol: what the program prints goes to standard error, which the host logs.
    /// - Exit code: 0 after an end in order, and where the host is gone; 1 where the module cannot be made; 64 where no host has
    ///   started the program, such as from a shell, which standard error says.
    /// - Parameter module: The class of the module, which may have any name.
    public static func run(_ module: any Module.Type) -> Never {
        CurrentProcess.exit(ModuleChild.run(EntryType.name(of: module)).rawValue)
    }
}

package import Glibc

/// Starts a program as every child of this package is started: with no signal ignored, and none blocked
/// unless it is a host.
///
/// - Parameters:
///   - program: The path of the program.
///   - words: Its arguments, of which the first is its name.
///   - variables: All of its variables, each as `NAME=value`.
///   - blocked: The signals that are blocked when it begins.
///   - leadsGroup: Whether it is the first of a process group of its own; else it is in this process's.
///   - actions: The actions on its descriptors.
/// - Returns: The number of the process.
/// - Throws: ``SystemError`` where it cannot be started.
package func spawnProcess(
    _ program: String, _ words: [String], variables: [String],
    blocked: SignalSet = SignalSet(), leadsGroup: Bool = true,
    _ actions: inout posix_spawn_file_actions_t
) throws(SystemError) -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    withUnsafePointer(to: blocked.raw) { _ = posix_spawnattr_setsigmask(&attributes, $0) }
    withUnsafePointer(to: SignalSet.all.raw) {
        _ = posix_spawnattr_setsigdefault(&attributes, $0)
    }
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes,
        Int16(
            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
                | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)))
    var processID = pid_t()
    let code = withCStrings(words) { argv in
        withCStrings(variables) { envp in
            posix_spawn(&processID, program, &actions, &attributes, argv, envp)
        }
    }
    guard code == 0 else { throw SystemError(code: code) }
    return processID
}

/// Returns a C string that the caller frees; for a variable that is not UTF-8, of its own bytes.
private func copy(_ string: String) -> UnsafeMutablePointer<CChar>? {
    guard let bytes = NonUTF8Variables.bytes(of: string) else { return strdup(string) }
    return (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
        $0.baseAddress.flatMap { strdup($0) }
    }
}

/// Passes strings to `body` as a C array.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map(copy) + [nil]
    defer { for copy in copies { free(copy) } }
    return body(copies)
}

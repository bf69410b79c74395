/// What is called for each input.
public typealias FuzzedFunction = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Hands the process over to libFuzzer, which calls `function` for each input and ends the process.
///
/// libFuzzer has a `main` of its own, but SwiftPM makes the target's the only one.
public func runFuzzer(_ function: FuzzedFunction) {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = runDriver(&count, &arguments, function)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ function: FuzzedFunction
) -> CInt

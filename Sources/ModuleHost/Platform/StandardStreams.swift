import Glibc

/// The standard streams of a process that speaks with its parent over them.
struct StandardStreams: ~Copyable {
    private let input: Descriptor
    private let output: Descriptor

    /// Takes input and output for that alone: whatever else reads finds nothing, and whatever else prints
    /// does so to standard error.
    ///
    /// Before anything else of the process reads or prints.
    ///
    /// - Returns: What were the streams; closed on `exec`.
    /// - Throws: ``SystemError`` where one of them is closed.
    static func take() throws(SystemError) -> StandardStreams {
        let input = try duplicate(0)
        guard fcntl(input.number, F_SETFL, O_NONBLOCK) == 0 else { throw .last }
        let output = try duplicate(1)
        let nothing = try Descriptor(opening: "/dev/null", O_RDONLY)
        guard dup2(nothing.number, 0) == 0, dup2(2, 1) == 1 else { throw .last }
        return StandardStreams(input: input, output: output)
    }

    /// - Parameters:
    ///   - input: What is read.
    ///   - output: What is written to.
    init(input: consuming Descriptor, output: consuming Descriptor) {
        self.input = input
        self.output = output
    }

    /// Writes all of it, waiting as long as that takes.
    func writeAll(_ bytes: [UInt8]) throws(SystemError) { try output.writeAll(bytes) }

    private static func duplicate(_ number: Int32) throws(SystemError) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .last }
        return Descriptor(owning: copy)
    }

    /// The descriptor of the input.
    var inputNumber: Int32 { input.number }

    /// Takes input, without waiting, into the front of `buffer`.
    func read(into buffer: inout [UInt8]) -> ChildProcess.Reception {
        ChildProcess.read(input, into: &buffer)
    }
}

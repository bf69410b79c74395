import Glibc

/// The standard streams of a process that communicates with its parent over them.
struct StandardStreams: ~Copyable {
    private let input: Descriptor
    private let output: Descriptor

    /// Reserves input and output for that: other code that reads finds nothing, and other code that prints
    /// writes to standard error.
    ///
    /// Only before any other code of the process reads or prints.
    ///
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
    ///   - input: The descriptor to read from.
    ///   - output: The descriptor to write to.
    init(input: consuming Descriptor, output: consuming Descriptor) {
        self.input = input
        self.output = output
    }

    /// Writes all bytes, waiting as long as that takes.
    func writeAll(_ bytes: [UInt8]) throws(SystemError) { try output.writeAll(bytes) }

    private static func duplicate(_ number: Int32) throws(SystemError) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .last }
        return Descriptor(owning: copy)
    }

    /// The descriptor of the input.
    var inputNumber: Int32 { input.number }

    /// Reads available input, without waiting, into the front of `buffer`.
    func read(into buffer: inout [UInt8]) -> ChildProcess.Reception {
        ChildProcess.read(input, into: &buffer)
    }
}

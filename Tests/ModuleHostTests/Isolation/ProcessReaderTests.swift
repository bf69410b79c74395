import AppService
import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// The thread that reads all processes.
@Suite("Reader of modules' processes", .timeLimit(.minutes(10)))
struct ProcessReaderTests {
    private static let patience = DispatchTime.now() + .seconds(300)

    private static func start(_ script: String, _ reader: ProcessReader) throws -> ModuleProcess {
        try .start(
            ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], in: nil,
            time: SystemTimeSource.shared, readBy: reader,
            notifying: ModuleProcess.Observer(
                onLine: { _, _ in }, onMail: { _ in },
                onSend: { _, _, _, _ in false }))
    }

    /// Takes what a process says, to its end.
    private static func take(_ process: ModuleProcess) -> (methods: [String], end: ProcessExit?) {
        var methods: [String] = []
        while true {
            switch process.queue.next(until: patience) {
            case .message(.request(let request, _)): methods.append(request.method)
            case .end(let end): return (methods, end)
            default: return (methods, nil)
            }
        }
    }

    /// Waits for the end of the thread, which comes a little later than that of the last process.
    private static func waitForEnd(of reader: ProcessReader, _ meanwhile: () -> Void = {}) {
        let limit = patience
        while reader.isReading, .now() < limit {
            meanwhile()
        }
        #expect(!reader.isReading)
    }

    @Test(
        "each of many is read to its end, and with the last one the thread ends; the next starts another"
    )
    func many() throws {
        let reader = ProcessReader()
        for round in 0..<3 {
            let processes = try (0..<40).map { number in
                try Self.start(
                    """
                    echo '{"jsonrpc":"2.0","method":"first\(number)"}'
                    read -r line; echo '{"jsonrpc":"2.0","method":"last\(number)"}'; exit \(number)
                    """, reader)
            }
            #expect(reader.isReading)
            for process in processes { process.send(Array("go on".utf8)) }
            for (number, process) in processes.enumerated() {
                let (methods, end) = Self.take(process)
                #expect(methods == ["first\(number)", "last\(number)"], "round \(round)")
                #expect(end?.exit == .code(Int32(number)))
            }
            // The end of the last one is taken before the thread notices that it was the last.
            while reader.isReading, .now() < Self.patience {}
            #expect(!reader.isReading)
        }
    }

    @Test("a message arrives while others flood both streams")
    func amongFloods() throws {
        let reader = ProcessReader()
        let floods = try ["", ">&2"].map {
            try Self.start(#"exec yes '{"jsonrpc":"2.0","method":"log"}' \#($0)"#, reader)
        }
        let process = try Self.start(
            """
            while read -r line; do echo '{"jsonrpc":"2.0","method":"said"}'; done
            """, reader)
        for _ in 0..<20 {
            process.send(Array("go on".utf8))
            guard case .message(.request(let request, _)) = process.queue.next(until: Self.patience)
            else {
                Issue.record("nothing was said")
                break
            }
            #expect(request.method == "said")
        }
        for other in floods + [process] { other.kill(because: .demand) }
        for other in floods + [process] { #expect(Self.take(other).end != nil) }
    }

    @Test("a call for a process that is not read any more does nothing")
    func late() throws {
        let reader = ProcessReader()
        reader.call(3)
        #expect(!reader.isReading)
        let process = try Self.start("exit 3", reader)
        #expect(Self.take(process).end?.exit == .code(3))
        process.output.rest()
        while reader.isReading, .now() < Self.patience { reader.call(process.end) }
        #expect(!reader.isReading)
    }
}

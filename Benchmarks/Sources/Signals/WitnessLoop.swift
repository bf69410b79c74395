import Foundation
import MeasuredModules
import ModuleHost
import Served

/// The loop beside which deliveries are measured: `for module in modules { try module.ping() }`, over modules of a host whose
/// classes are in another target.
enum WitnessLoop {
    private static let count = 1000
    private static let passes = 1000

    /// Measures it in a process of its own.
    ///
    /// - Returns: Nanoseconds a call.
    static func run() throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["loop"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // Before it, the host says that it is ready.
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").last ?? ""
        guard let took = Double(line) else { throw Failure("the loop was not measured: \(line)") }
        return took / 1000
    }

    /// Prints picoseconds a call, and ends the process.
    static func measure() -> Never {
        MeasuredHost.serve {
            do {
                try MeasuredHost.start(
                    (0..<count).map { number in
                        (
                            "bench.m\(number)",
                            number.isMultiple(of: 2) ? PingModule.self : OtherPingModule.self
                        )
                    })
            } catch {
                fatalError("\(error)")
            }
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                LaneModule.run { context in
                    printMedian(context.center)
                    done.resume()
                }
            }
        }
    }

    private static func printMedian(_ center: CommunicationCenter) {
        let found = Found()
        center.send(to: (any PingResponder).self) { found.modules.append($0) }
        precondition(found.modules.count == count)
        let rounds = (0..<21).map { _ in
            picoseconds(of: count, rounds: passes) { pingAll(found.modules) }
        }
        print(median(rounds))
        fflush(nil)
    }

    @inline(never)
    private static func pingAll(_ modules: [any PingResponder]) {
        for module in modules {
            do {
                try module.ping()
            } catch {
                print(error)
            }
        }
    }
}

/// `@unchecked Sendable`: the lane alone fills it, and reads it.
private final class Found: @unchecked Sendable {
    var modules: [any PingResponder] = []
}

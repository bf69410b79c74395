import Foundation
import Glibc
import Served

let burstCount = 10_000
private let loneCount = 500

/// A process that takes signals, and notes when each reached its handler.
private struct Receiver {
    private let process = Process()
    private let output = Pipe()
    var id: Int32 { process.processIdentifier }

    /// Starts it, and waits until it is ready.
    init(_ way: SignalWay) throws {
        process.executableURL = URL(filePath: way == .bare ? barePath : CommandLine.arguments[0])
        process.arguments = way == .bare ? [] : [way.rawValue]
        process.standardOutput = output
        try process.run()
        // The first line says that it is ready.
        while try output.fileHandleForReading.read(upToCount: 1)?.first != UInt8(ascii: "\n") {}
    }

    /// Sends it one signal every 2 ms.
    ///
    /// - Returns: When each was sent.
    func sendLone() -> [Int] {
        (0..<loneCount).map { _ in
            usleep(2000)
            let sent = nanoseconds()
            precondition(sigqueue(id, burstSignal, sigval(sival_int: 1)) == 0)
            return sent
        }
    }

    /// Sends it a burst, as fast as can be.
    func sendBurst() {
        for number in 0..<Int32(burstCount) {
            // EAGAIN: raise RLIMIT_SIGPENDING (ulimit -i).
            precondition(sigqueue(id, burstSignal, sigval(sival_int: number)) == 0)
        }
    }

    /// Ends it.
    ///
    /// - Returns: When each signal reached its handler.
    func end() throws -> [Int] {
        kill(id, SIGTERM)
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
    }
}

/// Runs a receiver, sends it lone signals and a burst, and reckons from when each reached its handler.
func measure(_ way: SignalWay) throws -> SignalFigures {
    let receiver = try Receiver(way)
    let sent = receiver.sendLone()
    usleep(50_000)

    let began = nanoseconds()
    receiver.sendBurst()
    usleep(way.pause)
    let mark = nanoseconds()

    // Stopped, it finds the whole burst waiting, and the sender takes no processor from it.
    kill(receiver.id, SIGSTOP)
    receiver.sendBurst()
    kill(receiver.id, SIGCONT)
    usleep(way.pause)
    let stamps = try receiver.end()

    let live = stamps.filter { $0 > began && $0 < mark }
    let waiting = stamps.filter { $0 > mark }
    guard let last = live.last, let first = waiting.first, let end = waiting.last,
        waiting.count > 1
    else { fatalError("\(way): no signals arrived") }
    return SignalFigures(
        arrived: live.count, live: (last - began) / live.count,
        waiting: (end - first) / (waiting.count - 1),
        lone: median(zip(sent, stamps).map { $1 - $0 }))
}

/// Runs a receiver, and sends it lone signals where the two are on these cores.
///
/// - Returns: The median of the nanoseconds from `sigqueue` to the handler.
func measureLone(_ way: SignalWay, _ placement: Placement) throws -> Int {
    let receiver = try Receiver(way)
    try placement.place(receiver.id)
    let sent = receiver.sendLone()
    usleep(50_000)
    let stamps = try receiver.end()
    precondition(stamps.count == loneCount, "\(way): lone signals did not arrive")
    return median(zip(sent, stamps).map { $1 - $0 })
}

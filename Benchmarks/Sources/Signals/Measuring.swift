import Foundation
import Glibc

let burstCount = 10_000
private let loneCount = 500

/// Runs a receiver, sends it lone signals and a burst, and reckons from when each reached its handler.
func measure(_ way: SignalWay) throws -> SignalFigures {
    let receiver = Process()
    receiver.executableURL = URL(filePath: CommandLine.arguments[0])
    receiver.arguments = [way.rawValue]
    let output = Pipe()
    receiver.standardOutput = output
    try receiver.run()
    // The first line says that it is ready.
    while try output.fileHandleForReading.read(upToCount: 1)?.first != UInt8(ascii: "\n") {}
    let process = receiver.processIdentifier

    var sent: [Int] = []
    for _ in 0..<loneCount {
        usleep(2000)
        sent.append(monotonicNanoseconds())
        precondition(sigqueue(process, burstSignal, sigval(sival_int: 1)) == 0)
    }
    usleep(50_000)

    let began = monotonicNanoseconds()
    sendBurst(to: process)
    usleep(way == .crowd ? 2_000_000 : 500_000)
    let mark = monotonicNanoseconds()

    // Stopped, it finds the whole burst waiting, and the sender takes no processor from it.
    kill(process, SIGSTOP)
    sendBurst(to: process)
    kill(process, SIGCONT)
    usleep(way == .crowd ? 2_000_000 : 500_000)
    kill(process, SIGTERM)
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    receiver.waitUntilExit()

    let stamps = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
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

private func sendBurst(to process: Int32) {
    for number in 0..<Int32(burstCount) {
        // EAGAIN: raise RLIMIT_SIGPENDING (ulimit -i).
        precondition(sigqueue(process, burstSignal, sigval(sival_int: number)) == 0)
    }
}

func monotonicNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

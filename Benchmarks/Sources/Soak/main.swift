import Foundation
import Served

// A host under load for a long time: does it lose events, grow, or keep files open?
//
// `Soak HOSTD [--minutes N] [--rate N]` runs hostd with the modules that come with it, sends it durable
// events over its control socket, gives it another slatefile every 5 s, and reads the journal that it
// writes. Ends with 1 where something is not as it should be.

signal(SIGPIPE, SIG_IGN)

var arguments = CommandLine.arguments.dropFirst()
var minutes = 10
var rate = 20_000
guard let hostd = arguments.popFirst() else { usage() }
while let option = arguments.popFirst() {
    guard let value = arguments.popFirst().flatMap(Int.init), value > 0 else { usage() }
    switch option {
    case "--minutes": minutes = value
    case "--rate": rate = value
    default: usage()
    }
}
let soak = try Soak(hostd, minutes: minutes, rate: rate)
exit(try soak.run() ? 0 : 1)

func usage() -> Never {
    FileHandle.standardError.write(
        Data("usage: Soak HOSTD [--minutes N] [--rate EVENTS-A-SECOND]\n".utf8))
    exit(64)
}

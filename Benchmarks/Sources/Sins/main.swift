import Foundation
import Served

// A host under modules that do everything wrong, while durable events flow: does it lose events, leave
// processes or descriptors behind, or keep the other modules waiting?
//
// `Sins MISBEHAVINGMODULE [--rounds N] [--seed N] [--rate N]`. Ends with 1 where something is not as it
// should be.

let usage = """
    usage: Sins MISBEHAVINGMODULE [--rounds N] [--seed N] [--rate N]

    MISBEHAVINGMODULE   the program of that name, a product of the package above
    --rounds N          how often each sin is committed (50)
    --seed N            which order they come in, and when (1)
    --rate N            durable events a second (100)
    """

signal(SIGPIPE, SIG_IGN)
var words = CommandLine.arguments.dropFirst()
var plan = Plan()
if words.contains("--help") {
    print(usage)
    exit(0)
}
guard let program = words.popFirst() else { refuse() }
while let option = words.popFirst() {
    guard let value = words.popFirst().flatMap(Int.init), value > 0 else { refuse() }
    switch option {
    case "--rounds": plan.rounds = value
    case "--seed": plan.seed = UInt64(value)
    case "--rate": plan.rate = value
    default: refuse()
    }
}
func refuse() -> Never {
    FileHandle.standardError.write(Data((usage + "\n").utf8))
    exit(64)
}

// Standard error is to be the host's log.
let errors = FileHandle(fileDescriptor: fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3))
MainThread.serve { [plan] in
    do {
        let trial = try Trial(plan, of: URL(filePath: program).path)
        exit(try trial.run() ? 0 : 1)
    } catch {
        errors.write(Data("Sins: \(error)\n".utf8))
        exit(1)
    }
}

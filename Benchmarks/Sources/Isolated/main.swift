import Glibc
import ModuleHost

// Modules in a process of their own: what it costs to ask them something, what they cost the host, how soon
// they are ready, and how soon they are back after a crash.
//
// `Isolated ECHOCHILD [PART…]` measures; EchoChild is the bare peer. Each round is a process of its own:
// `Isolated ECHOCHILD round PART ARGUMENT FOLDER`. It is without Foundation, as hostd is, since modules run
// in this very binary.

// The process of a module: the host has started this binary once more.
if getenv("MODULEHOST_ENTRY") != nil { exit(HostDaemon.run(HostDaemonOptions()).rawValue) }

let parts = ["exchanges", "memory", "starts", "crashes"]
let usage = """
    usage: Isolated ECHOCHILD [exchanges|memory|starts|crashes]…

    ECHOCHILD   the program of the same name: the bare child that modules are measured beside
    exchanges   a call and an event to an isolated Swift module and back
    memory      what each isolated module costs the host
    starts      from the start of a process until the module is ready
    crashes     from a crash until the module has received all that it has missed
    """

signal(SIGPIPE, SIG_IGN)
let words = CommandLine.arguments.dropFirst()
if words.contains("--help") {
    print(usage)
} else if words.elementsEqual(["echo"]) {
    echo()
} else if words.count == 5, words.dropFirst().first == "round" {
    try Round.run(CommandLine.arguments[3], CommandLine.arguments[4], CommandLine.arguments[5])
} else if words.isEmpty || !Set(words.dropFirst()).isSubset(of: parts) {
    printError(usage)
    exit(64)
} else {
    do {
        for part in parts where words.count == 1 || words.dropFirst().contains(part) {
            switch part {
            case "exchanges":
                print("All on one core, where no wake-up has to go to another:\n")
                print(try Round.text("exchanges", "0", onOneCore: true))
                print("Who asks on one core, and who answers on the other:\n")
                print(try Round.text("exchanges", "apart"))
                print("On whichever core the kernel chooses:\n")
                print(try Round.text("exchanges", "0"), terminator: "")
            case "memory": try Memory.measure()
            case "starts": try Starts.measure()
            default: try Crashes.measure()
            }
            print()
            fflush(nil)
        }
    } catch {
        printError("Isolated: \(error)")
        exit(1)
    }
}

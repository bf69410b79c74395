import Glibc

// A module in a process of its own that does one thing wrong, for the tests of the host. Whatever comes of
// it, nothing that a test leaves behind stays for longer than an hour.
alarm(3600)

switch Settings.command(Array(CommandLine.arguments.dropFirst())) {
case .help:
    print(Settings.help)
case .wrong(let error):
    Descriptor.error.write("MisbehavingModule: \(error)\n")
    exit(64)
case .asleep:
    sleepForever()
case .module(let settings):
    var module = MisbehavingModule(settings)
    module.run()
}

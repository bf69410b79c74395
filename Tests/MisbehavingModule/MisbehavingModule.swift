import Glibc

/// A module that behaves, but for its sins.
struct MisbehavingModule {
    /// The version of the protocol that it says it speaks.
    var version = 2
    /// Whether it writes no answer any more.
    var isSilent = false
    /// What it writes whenever it waits for the host.
    var flood: (to: Descriptor, text: String)?

    private let settings: Settings
    private let journal: Descriptor?
    private var input = Input()
    private var received = 0
    /// How many events it has received since it began to flood.
    private var floodedEvents = 0
    private var hasSinned = false
    private var eaten: [UnsafeMutableRawPointer] = []
    /// The calls that it answers later.
    private var kept: [Request] = []

    init(_ settings: Settings) {
        self.settings = settings
        journal = settings.journal.map { Descriptor(appendingTo: $0) }
    }

    /// Does what the host asks until it is asked to end, or the host is no more.
    mutating func run() {
        while let line = input.nextLine(meanwhile: flood) {
            let request = Request(line)
            serve(request)
            if request.method == .shutdown { return }
        }
    }

    private mutating func serve(_ request: Request) {
        switch request.method {
        case .event:
            note(request.journalLine)
            if request.event == "push" {
                for call in kept { answer(call) }
                kept = []
            }
        case .call where request.action != #""echo""#: return kept.append(request)
        case .cancel: return note(request.journalLine)
        case .initialize, .call, .shutdown: break
        }
        let sins = settings.sins.filter { $0.moments.contains(request.method) }
        var answering = Sin.Answering.asItShould
        if !sins.isEmpty, isToSin(at: request.method) {
            for sin in sins where sin.commit(&self, request) == .never { answering = .never }
        }
        if answering == .asItShould { answer(request) }
        guard request.method == .event else { return }
        received += 1
        if flood != nil { floodedEvents += 1 }
        if floodedEvents > settings.flooding { flood = nil }
    }

    /// Whether the time has come; it does not go by.
    private mutating func isToSin(at method: Request.Method) -> Bool {
        if hasSinned { return true }
        if method != .initialize, received < settings.after { return false }
        if let file = settings.once {
            let descriptor = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return false }
            close(descriptor)
        }
        hasSinned = true
        return true
    }

    // MARK: What it does

    /// Answers as it should.
    func answer(_ request: Request) {
        if isSilent { return }
        let result =
            switch request.method {
            case .initialize: Message.introduction(version: version, module: request.module)
            case .call: request.parameters
            case .event, .cancel, .shutdown: "null"
            }
        Descriptor.output.write(Message.result(result, id: request.id))
    }

    /// Makes a call, and waits for the response: nothing else may come before it.
    mutating func ask(_ message: String) {
        Descriptor.output.write(message)
        guard let line = input.nextLine(meanwhile: nil) else { exit(0) }
        note(#"{"response":\#(String(decoding: line, as: UTF8.self))}"#)
    }

    /// Writes a line into the journal; it is there when this returns.
    func note(_ line: String) { journal?.write(line + "\n") }

    /// Takes memory and keeps it.
    mutating func eat(megabytes: Int) {
        if eaten.count * megabytes >= 1024 { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: megabytes << 20, alignment: 4096)
        memset(memory, 1, megabytes << 20)
        eaten.append(memory)
    }
}

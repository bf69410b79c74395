import Dispatch
import Foundation
import Glibc
public import ModuleHost
import Served

let burstSignal = __libc_current_sigrtmin() + 1

extension SignalWay {
    /// Takes signals until TERM, then says when each reached its handler.
    func receive() {
        stamps.reserveCapacity(burstCount * 2)
        switch self {
        case .bare: break  // A program in C.
        case .host: receiveAsHost()
        case .few: receiveAsHost(receivers: 99)
        case .crowd: receiveAsHost(receivers: 999)
        case .dispatch: receiveByDispatch()
        }
        print(stamps.map(String.init).joined(separator: "\n"))
    }

    private func receiveByDispatch() {
        _ = blockedSignals()
        let queue = DispatchQueue(label: "signals")
        let source = DispatchSource.makeSignalSource(signal: burstSignal, queue: queue)
        source.setEventHandler { stamp() }
        source.activate()
        let ended = DispatchSemaphore(value: 0)
        let end = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        end.setEventHandler { ended.signal() }
        end.activate()
        sayReady()
        ended.wait()
    }

    private func receiveAsHost(receivers: Int = 0) {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "modulehost-signals-\(ProcessInfo.processInfo.processIdentifier)")
        let crowd = (0..<receivers).map { index in
            #"{"id": "bench.m\#(index)", "entry": "Signals.ReceivingModule"}"#
        }
        // Last, so that it notes when all have received.
        let stamping = #"{"id": "bench.stamp", "entry": "Signals.StampModule", "main": true}"#
        let slatefile = """
            {"slate": 1, "app": "bench",
             "modules": [\((crowd + [stamping]).joined(separator: ",\n"))],
             "signals": {"RTMIN+1": {"event": "memory-warning"}}}
            """
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "slatefile.json")
            try slatefile.write(to: file, atomically: true, encoding: .utf8)
            // Says on stdout that it is ready.
            let code = HostDaemon.run(
                HostDaemonOptions(
                    slatefile: file.path, stateDirectory: folder.path, logLevel: .error))
            guard code == .success else { fatalError("the host ended: \(code)") }
            try FileManager.default.removeItem(at: folder)
        } catch {
            fatalError("\(error)")
        }
    }

    private func blockedSignals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, burstSignal)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    private func sayReady() { FileHandle.standardOutput.write(Data("ready\n".utf8)) }
}

/// Receives each signal as an event.
public final class StampModule: Module, RootProvider, MemoryWarningResponder {
    /// Needs nothing of its context.
    public init(context: ModuleContext) {}

    /// Nothing to show.
    public var root: String? { nil }

    /// Notes the time.
    public func didReceiveMemoryWarning() { stamp() }
}

/// Receives each signal, and does the least that a handler can do.
public final class ReceivingModule: Module, MemoryWarningResponder {
    private var warnings = 0

    /// Needs nothing of its context.
    public init(context: ModuleContext) {}

    /// Counts.
    public func didReceiveMemoryWarning() { warnings &+= 1 }
}

/// When signals reached the handler; each way has one thread that handles them.
nonisolated(unsafe) private var stamps: [Int] = []

private func stamp() { stamps.append(nanoseconds()) }

import AppService
import ModuleHostCore

extension TestHost {
    // MARK: Faults

    /// Makes a module unresponsive: its code stands still, and its deadline passes.
    ///
    /// Delivery continues without it, calls of it fail, and it receives what it missed when the stall ends. The
    /// clock moves on by the module's deadline and a fifth.
    ///
    /// - Parameter module: The id of the module.
    /// - Returns: The stall, which ends with ``Stall/end()``, when it is released, or with ``stop()``.
    /// - Throws: ``TestHostError`` if there is no such module.
    public func stall(_ module: String) async throws -> Stall {
        let id = try ModuleID(module)
        let release = Promise<Void>()
        let entered = Promise<Result<Void, any Error>>()
        stalls.add(release)
        let start = log.records.count
        let standStill: @Sendable (any Module, ModuleContext) -> Void = { _, _ in
            entered.keep(.success(()))
            release.wait()
        }
        host.enter(
            where: { found, _ in found == id }, standStill, completion: { entered.keep($0) })
        do {
            try await wait(for: "entry into module '\(module)'") { done in entered.then(done) }
        } catch let error as ModuleNotRunning {
            throw TestHostError.noModule("'\(module)'", modules: error.modules.map(\.shown))
        }
        let deadline = host.deadline(of: id)
        time.advance(by: deadline + deadline / 5)
        _ = try await wait(for: "module '\(module)' to be unresponsive") { done in
            log.first(
                from: start,
                where: { record in
                    record.module == module && record.message.hasPrefix("unresponsive")
                }
            ) { done(.success($0)) }
        }
        return Stall(of: module, in: self, release)
    }

    /// Whether the disk of the state directory is full.
    ///
    /// Then each write to a file in ``folder`` fails with ``SystemError/noSpace`` (`ENOSPC`), of the modules
    /// through `writeFile` and ``AppendFile``, and of the inbox. Not affected are modules in other processes, and
    /// files that a module writes by other means. ``stop()`` sets it to false.
    public var isDiskFull: Bool {
        get { FullDisks.contain(folder: folder.path) }
        set { newValue ? FullDisks.add(folder.path) : FullDisks.remove(folder.path) }
    }

    /// Kills the process of a module, and waits until the module has come back in another one.
    ///
    /// - Parameter module: The id of the module.
    /// - Throws: ``TestHostError`` if it has no process, or does not come back.
    public func killProcess(of module: String) async throws {
        let id = try ModuleID(module)
        let start = log.records.count
        let hasProcess = try await wait(for: "the end of the process of '\(module)'") { done in
            host.killProcess(of: id) { done($0) }
        }
        guard hasProcess else { throw TestHostError.noProcess(module) }
        _ = try await wait(for: "module '\(module)' to be restarted") { done in
            log.first(
                from: start,
                where: { record in
                    record.module == module && record.message.hasPrefix("responsive again")
                }
            ) { done(.success($0)) }
        }
    }
}

/// A module that a test has made unresponsive; see ``TestHost/stall(_:)``.
public final class Stall: Sendable {
    private let module: String
    private let host: TestHost
    private let release: Promise<Void>

    init(of module: String, in host: TestHost, _ release: Promise<Void>) {
        self.module = module
        self.host = host
        self.release = release
    }

    deinit { release.keep(()) }

    /// Lets the module go on, and waits until it has received what it missed.
    ///
    /// - Throws: ``TestHostError`` if it does not come back; ``RouteError/stopped`` if the app has ended.
    public func end() async throws {
        let start = host.log.records.count
        release.keep(())
        _ = try await host.wait(for: "module '\(module)' to catch up") { [host, module] done in
            host.log.first(
                from: start,
                where: { record in
                    record.module == module && record.message.hasPrefix("responsive again")
                }
            ) { done(.success($0)) }
        }
    }
}

/// The stalls of a host, which end with it at the latest.
final class Stalls: Sendable {
    private let releases = Guarded<[Promise<Void>]>([])

    func add(_ release: Promise<Void>) { releases.withLock { $0.append(release) } }

    func endAll() { for release in releases.withLock({ $0 }) { release.keep(()) } }
}

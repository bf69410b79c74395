import Dispatch

extension SlatefileReloader {
    /// Disables or enables a module beside the slatefile, and reloads.
    ///
    /// If the reload is rolled back, or the slatefile is invalid, the list stays as it was.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - name: The id of a module of the slatefile.
    ///   - origin: The origin of the request.
    ///   - completion: Called once, on any thread; with ``NoSuchModule`` where there is none.
    func change(
        _ change: DisabledModules.Change, of name: String, origin: Origin,
        completion: @escaping AppHost.CompletionHandler<DisablingReport>
    ) {
        queue.async { [self] in
            completion(
                Result { () throws(NoSuchModule) in try changeNow(change, of: name, origin) }
                    .mapError { $0 })
        }
    }

    private func changeNow(
        _ change: DisabledModules.Change, of name: String, _ origin: Origin
    ) throws(NoSuchModule) -> DisablingReport {
        let written: Slatefile
        do throws(SlatefileFailure) {
            written = try .load(options.slatefile, environment: options.environment)
        } catch {
            return DisablingReport(error)
        }
        let occasion = Occasion.asked(origin)
        return try DisablingReport(change, of: name, in: written, directory) { [self] list in
            carryOut(occasion) { reloadNow(occasion, list) }
        }
    }
}

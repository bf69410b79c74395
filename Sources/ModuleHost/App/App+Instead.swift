/// URLs that are opened instead of failed modules.
extension App {
    /// Notes which failed modules have an `instead`, and logs what has changed.
    ///
    /// Called when a module has failed, and when a failed one is replaced or unloaded.
    func noteInstead() {
        guard let calls else { return }
        var taken: [TakenInstead] = []
        if let instead = calls.table.instead {
            taken = failed.ids.compactMap { id in
                instead[id].map { TakenInstead(module: id, url: $0.text) }
            }
        }
        let before = metrics.withLock { metrics in
            defer { metrics.instead = taken }
            return metrics.instead
        }
        guard taken != before else { return }
        let (old, new) = (Set(before), Set(taken))
        for instead in taken where !old.contains(instead) {
            log.of(module: instead.module.text).notice(
                "its URLs and calls go to \(quoted(instead.url)) until it runs again")
        }
        let gone = before.filter { one in !taken.contains { $0.module == one.module } }
        for instead in gone where !new.contains(instead) {
            // Not for a module that was removed.
            guard calls.table.contents.position(of: instead.module) != nil else { continue }
            log.of(module: instead.module.text).notice("its URLs and calls come to it again")
        }
    }
}

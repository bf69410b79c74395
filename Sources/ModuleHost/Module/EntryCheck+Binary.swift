extension EntryUse {
    /// A check of entries against the classes of the running binary: whether there is such a module,
    /// whether the main one can supply the root, whether settings decode to what the module says they
    /// are.
    ///
    /// Pass it to ``Slatefile/read(_:path:environment:checkEntry:)``, which asks it in file order.
    public static func checkAgainstBinary() -> (EntryUse) -> [EntryFault] {
        var targets: [String] = []
        return { use in
            let target = String(use.entry.prefix { $0 != "." })
            defer { if !targets.contains(target) { targets.append(target) } }
            let type: any Module.Type
            do throws(EntryError) {
                type = try EntryType(use.entry, targets: targets).type
            } catch {
                return [.entry(error.description)]
            }
            var faults: [EntryFault] = []
            if use.isMain, !(type is any RootProvider.Type) {
                faults.append(
                    .entry("the main module supplies the root: '\(use.entry)' is no RootProvider"))
            }
            if let configured = type as? any ConfiguredModule.Type,
                let fault = configured.fault(in: use.config)
            {
                faults.append(.config(fault))
            }
            return faults
        }
    }
}

extension ConfiguredModule {
    fileprivate static func fault(in config: JSONValue?) -> JSONError? {
        do throws(JSONError) {
            _ = try (config ?? .emptyObject).decode(Configuration.self)
            return nil
        } catch {
            return error
        }
    }
}

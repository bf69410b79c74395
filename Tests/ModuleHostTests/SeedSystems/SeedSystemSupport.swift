import ModuleHostCore

extension ModuleContext {
    /// The probe of the test that a module of a seed system's app is in.
    var probe: Probe? {
        let config = try? config([String: JSONValue].self)
        return config?["probe"]?.string.flatMap(Probe.named)
    }
}

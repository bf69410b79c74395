extension Slatefile {
    /// The levels of the log of the modules that have one, by id.
    var logLevels: [String: LogLevel] {
        Dictionary(
            modules.lazy.filter(\.isEnabled).compactMap { module in
                module.logLevel.map { (module.id.text, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension LogLevels {
    /// Takes the levels of the slatefile with which a host starts.
    func take(_ slatefile: Slatefile) {
        take(host: slatefile.logLevel, modules: slatefile.logLevels)
    }
}

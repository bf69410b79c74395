extension ControlMethods {
    /// Adds `config`, which responds with the slatefile in effect.
    mutating func addConfig(of host: AppHost) {
        add("config") { call in call.reply.succeed { host.slatefile.writeEffective(to: &$0) } }
    }
}

extension ControlMethods {
    /// Adds `startup`, which responds with the steps of the launch.
    mutating func addStartup(of host: AppHost) {
        add("startup") { call in call.reply.succeed { host.launchReport.write(to: &$0) } }
    }
}

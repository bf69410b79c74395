import ModuleHostServiceLifecycle

final class MailModule: ServiceModule {
    let context: ModuleContext
    let service = MailQueue()

    init(context: ModuleContext) { self.context = context }
}

extension MailModule: RoutedModule {
    struct Mail: Decodable {
        let text: String
    }

    static var routes: [Route<MailModule>] {
        [
            Route("send/:text", access: .public, summary: "Sends a mail.") {
                (module, mail: Mail, call) in
                try module.service.accept(mail.text)
            }
        ]
    }
}

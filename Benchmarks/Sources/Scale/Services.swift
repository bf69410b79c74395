import ModuleHost
import PlainModules

/// Provides a service whose type no other module provides, and uses that of its neighbor.
final class ServiceModule: RootProvider, RoutedModule, LaunchResponder {
    static var routes: [Route<ServiceModule>] {
        [Route("number", access: .public) { _, _ in 1 }]
    }

    private let context: ModuleContext

    init(context: ModuleContext) throws {
        self.context = context
        func register<Service: NumberedService>(_ service: Service.Type) throws {
            try context.services.register(service) { Service() }
        }
        try register(NoDigits.service(context.number))
    }

    func didFinishLaunching(_ launch: Launch) throws {
        func resolve<Service: NumberedService>(_ service: Service.Type) throws {
            _ = try context.services.resolve(service)
        }
        try resolve(NoDigits.service(context.number ^ 1))
    }
}

extension ModuleContext {
    /// The number at the end of the module's id.
    var number: Int { Int(id.text.drop { !$0.isNumber }) ?? 0 }
}

/// A type for each number, made of one type for each of its binary digits.
protocol NumberedService: Sendable {
    init()
}

struct NoDigits: NumberedService {
    /// Returns the type of a number.
    static func service(_ number: Int) -> any NumberedService.Type {
        func adding<Digits: NumberedService>(to digits: Digits.Type) -> any NumberedService.Type {
            if number & 1 == 0 { DigitZero<Digits>.self } else { DigitOne<Digits>.self }
        }
        guard number > 0 else { return Self.self }
        return adding(to: service(number >> 1))
    }
}

struct DigitZero<Digits: NumberedService>: NumberedService {}

struct DigitOne<Digits: NumberedService>: NumberedService {}

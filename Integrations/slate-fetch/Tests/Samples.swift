import ModuleHostTesting

@testable import SlateFetch

/// Keys of an operator, and what is signed with them.
enum Samples {
    static let key = PrivateKey()
    static let otherKey = PrivateKey()
    static let hostID = "7f3c09d15b2ae640"

    static func envelope(
        _ version: Int, stage: Int = 100, slatefile: String = "{}", app: String = "shop",
        with key: PrivateKey = key
    ) throws -> Envelope {
        try Envelope(signing: slatefile, app: app, version: version, stage: stage, with: key)
    }

    static func text(_ envelope: Envelope) -> String {
        String(decoding: envelope.bytes, as: UTF8.self)
    }
}

import Crypto

/// A public key, in the form in which `config` and files have it: `ed25519:` and 64 hexadecimal digits.
struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    static let prefix = "ed25519:"
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Hex.bytes(text.dropFirst(Self.prefix.count)),
            bytes.count == 32
        else { return nil }
        self.bytes = bytes
    }

    var description: String { Self.prefix + Hex.text(bytes) }

    func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
            return false
        }
        return key.isValidSignature(signature, for: message)
    }
}

/// A private key, which signs slatefiles; no description shows it.
struct PrivateKey: Sendable, CustomStringConvertible {
    static let prefix = "ed25519-private:"
    private let key: Curve25519.Signing.PrivateKey

    /// Creates a new key.
    init() { key = Curve25519.Signing.PrivateKey() }

    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Hex.bytes(text.dropFirst(Self.prefix.count)),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }

    var publicKey: PublicKey { PublicKey(Array(key.publicKey.rawRepresentation)) }
    var description: String { "(hidden)" }

    /// The text of the key's file.
    var secretText: String { Self.prefix + Hex.text(Array(key.rawRepresentation)) }

    func signature(of message: [UInt8]) throws -> [UInt8] {
        Array(try key.signature(for: message))
    }
}

/// Bytes as lowercase hexadecimal digits.
enum Hex {
    /// Returns bytes as hexadecimal digits.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16)
        }
        return text
    }

    /// Returns the bytes of lowercase hexadecimal digits; nil for any other text.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

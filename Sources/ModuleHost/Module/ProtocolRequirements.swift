/// The requirements of a protocol, as the runtime has them: their kinds and order, not their names.
///
/// Read from the descriptor that the compiler writes for each protocol, in the layout of the Swift ABI
/// (`docs/ABI/TypeMetadata.rst` of the compiler).
struct ProtocolRequirements {
    /// A kind of requirement that a program can call.
    enum Kind: UInt32 {
        case method = 1
        case initializer = 2
        case getter = 3
        case setter = 4

        var name: String {
            switch self {
            case .method: "a method"
            case .initializer: "an initializer"
            case .getter: "a property"
            case .setter: "a property that can be set"
            }
        }
    }

    struct Requirement: Hashable {
        let kind: Kind
        let isAsync: Bool
    }

    /// The requirements, in the order of the declaration.
    let requirements: [Requirement]

    /// The kind of the metadata of a plain protocol type, as `any P`.
    private static let existential = 0x303

    /// Reads the requirements; nil for a type that is not a single protocol.
    ///
    /// - Parameter type: The protocol, as `(any P).self`.
    init?(of type: Any.Type) {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: Int.self) == Self.existential else { return nil }
        let flags = metadata.load(fromByteOffset: 8, as: UInt32.self)
        let count = metadata.load(fromByteOffset: 12, as: UInt32.self)
        // A superclass constraint would stand before the protocols.
        guard count == 1, flags & 0x4000_0000 == 0 else { return nil }
        let descriptor = metadata.load(fromByteOffset: 16, as: UnsafeRawPointer.self)
        let signatureCount = Int(descriptor.load(fromByteOffset: 12, as: UInt32.self))
        let requirementCount = Int(descriptor.load(fromByteOffset: 16, as: UInt32.self))
        let first = descriptor + 24 + signatureCount * 12
        requirements = (0..<requirementCount).compactMap { index in
            let flags = (first + index * 8).load(as: UInt32.self)
            return Kind(rawValue: flags & 0xF).map {
                Requirement(kind: $0, isAsync: flags & 0x20 != 0)
            }
        }
    }

    /// The first requirement that cannot cross processes, in words; nil where all may.
    var firstNotAsync: String? {
        requirements.firstIndex { !$0.isAsync || $0.kind == .initializer || $0.kind == .setter }
            .map { index in
                "requirement \(index + 1) of \(requirements.count), \(requirements[index].kind.name), "
                    + "is not 'async throws'"
            }
    }
}

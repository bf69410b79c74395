/// The top-level classes of the running program and of the libraries that it has loaded.
///
/// Each image has the section `swift5_type_metadata`, in which the runtime looks names up. The section lists a
/// descriptor for each type, in release builds and stripped ones, too.
enum ProgramTypes {
    /// The name of a class.
    struct Name: Hashable, Sendable {
        let target: String
        let type: String
    }

    /// Returns the names of the classes that are neither nested, private to a file, nor generic.
    ///
    /// - Returns: The names in no particular order. Empty where the runtime registers its sections in a form
    ///   that this program does not know.
    static func classes() -> Set<Name> {
        var names: Set<Name> = []
        withUnsafeMutablePointer(to: &names) { names in
            enumerateSections(
                { sections, names in
                    ProgramTypes.add(
                        in: sections, to: names.assumingMemoryBound(to: Set<Name>.self))
                    return true
                }, names)
        }
        return names
    }

    /// The index of the section's start in `MetadataSections`, as a number of words; its length follows.
    ///
    /// The words are version, base address and two unused ones, then start and length of `swift5_protocols`,
    /// `swift5_protocol_conformances` and `swift5_type_metadata`. Later versions only add to its end.
    private static let typesIndex = 8

    private static func add(
        in sections: UnsafeRawPointer, to names: UnsafeMutablePointer<Set<Name>>
    ) {
        let words = sections.assumingMemoryBound(to: UInt.self)
        let (start, length) = (words[typesIndex], Int(clamping: words[typesIndex + 1]))
        guard let records = UnsafeRawPointer(bitPattern: start) else { return }
        for offset in stride(from: 0, through: length - 4, by: 4) {
            guard let descriptor = TypeDescriptor(record: records + offset),
                descriptor.isPlainClass,
                let parent = descriptor.parent, parent.isModule
            else { continue }
            names.pointee.insert(Name(target: parent.name, type: descriptor.name))
        }
    }

    /// The descriptor of a type, or of what contains it: flags, the parent, the name.
    private struct TypeDescriptor {
        private let address: UnsafeRawPointer

        /// Creates the descriptor of a record: a relative pointer whose low two bits state its kind; nil for
        /// kinds that are not of Swift.
        init?(record: UnsafeRawPointer) {
            let offset = record.load(as: Int32.self)
            let target = record + Int(offset & ~3)
            switch offset & 3 {
            case 0 where offset != 0: address = target
            case 1:
                guard let pointee = target.load(as: UnsafeRawPointer?.self) else { return nil }
                address = pointee
            default: return nil
            }
        }

        private init(at address: UnsafeRawPointer) { self.address = address }

        private var flags: UInt32 { address.load(as: UInt32.self) }
        private var kind: UInt32 { flags & 0x1F }

        var isModule: Bool { kind == 0 }

        /// Whether it is a class that is not generic.
        var isPlainClass: Bool { kind == 16 && flags & 0x80 == 0 }

        /// The module or type around it: a relative pointer, whose low bit is set if it leads to a pointer.
        var parent: TypeDescriptor? {
            let field = address + 4
            let offset = field.load(as: Int32.self)
            guard offset != 0 else { return nil }
            let target = field + Int(offset & ~1)
            guard offset & 1 != 0 else { return TypeDescriptor(at: target) }
            return target.load(as: UnsafeRawPointer?.self).map(TypeDescriptor.init(at:))
        }

        /// The name, for a module or a type.
        var name: String {
            let field = address + 8
            let text = field + Int(field.load(as: Int32.self))
            return String(cString: text.assumingMemoryBound(to: CChar.self))
        }
    }
}

/// Calls `body` for each image, until it returns false: a function of Swift's runtime, with which its testing
/// library finds tests.
@_silgen_name("swift_enumerateAllMetadataSections") private func enumerateSections(
    _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Bool,
    _ context: UnsafeMutableRawPointer)

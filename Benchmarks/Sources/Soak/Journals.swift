import Foundation
import Served

/// What a host has written into its journals, which are read and removed one after the other.
final class Journals {
    private let files: [URL]
    /// How many events were received.
    private(set) var pushes = 0
    /// How many of them came twice, or not in the order of the inbox.
    private(set) var disorders = 0
    private var last = 0

    init(_ files: [URL]) { self.files = files }

    /// Reads a journal that grows no more, and removes it.
    func take(_ number: Int) throws {
        let file = files[number]
        let bytes = try Data(contentsOf: file, options: .alwaysMapped)
        try FileManager.default.removeItem(at: file)
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                take(UnsafeRawBufferPointer(rebasing: rest[..<end]))
                rest = rest[(end + 1)...]
            }
        }
    }

    private func take(_ line: UnsafeRawBufferPointer) {
        guard line.firstIndex(of: #""event":"push""#) != nil else { return }
        pushes += 1
        let key: StaticString = #""position":""#
        guard let start = line.firstIndex(of: key) else {
            disorders += 1
            return
        }
        // `segment:offset`, as one number that grows.
        var numbers = [0, 0]
        var part = 0
        for byte in line[(start + key.utf8CodeUnitCount)...] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                numbers[part] = numbers[part] * 10 + Int(byte - UInt8(ascii: "0"))
            case UInt8(ascii: ":") where part == 0: part = 1
            default:
                let position = numbers[0] << 32 | numbers[1]
                if position <= last { disorders += 1 }
                last = position
                return
            }
        }
    }
}

import TestSupport

@testable import ModuleHostCore

/// A state directory with a black box, which can be read at any instant as the next host would.
struct BlackBoxFolder {
    let folder: TemporaryFolder
    let box: BlackBox
    var directory: StateDirectory { StateDirectory(path: folder.path) }

    init(in folder: TemporaryFolder? = nil, app: String = "test", modules: Int = 0) throws {
        self.folder = try folder ?? TemporaryFolder()
        box = try BlackBox(
            in: StateDirectory(path: self.folder.path), app: app, modules: modules)
        try box.begin()
    }

    /// What the next host would read.
    var contents: BlackBox.Contents? { BlackBox.Contents(in: directory) }

    /// What the next host would say, without the process number.
    var lastWords: String? {
        contents?.death.map { death in
            let text = death.description
            let process = " (process \(CurrentProcess.id))"
            let parts = text.split(separator: process, maxSplits: 1)
            return parts.joined()
        }
    }

    /// The bytes of the file.
    var bytes: [UInt8] {
        get throws { try readFile(at: folder.path("blackbox"), limit: 1 << 20) }
    }
}

/// A box that was read as a whole, and may have been changed.
private struct BoxBytes: BoxSource {
    let all: [UInt8]
    /// The number of bytes that can be read, from the first.
    let readable: Int

    var size: Int { all.count }

    func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
        offset + count <= readable ? Array(all[offset..<offset + count]) : nil
    }
}

extension BlackBox.Contents {
    init?(_ bytes: [UInt8], boot: BootID?, readable: Int? = nil) {
        self.init(BoxBytes(all: bytes, readable: readable ?? bytes.count), boot: boot)
    }
}

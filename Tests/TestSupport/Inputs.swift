import Glibc
import ModuleHostCore

/// The inputs of tests: files that lie in a folder `Inputs` beside the tests that use them.
package enum Inputs {
    /// The path of `name` in the `Inputs` folder of the test target that `file` belongs to.
    package static func path(_ name: String, of file: StaticString = #filePath) -> String {
        var folder = "\(file)"
        // The sources of a target lie in folders of its own: go up to the one that has inputs.
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            if access("\(folder)/Inputs", R_OK) == 0 { break }
        }
        return "\(folder)/Inputs/\(name)"
    }

    /// The bytes of an input.
    package static func bytes(
        _ name: String, of file: StaticString = #filePath
    ) throws -> [UInt8] {
        try readFile(at: path(name, of: file), limit: 64 << 20)
    }

    /// The names of the files in a folder of inputs, sorted.
    package static func names(in folder: String, of file: StaticString = #filePath) -> [String] {
        let names = (try? namesInFolder(path(folder, of: file))) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }
}

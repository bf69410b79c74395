import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Removing a file", .timeLimit(.minutes(10)))
struct RemoveFileTests {
    @Test("one that is there goes, one that is not there is as good, and a folder is an error")
    func removes() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "file")
        try makeFolders(folder.path("folder"))
        try removeFile(folder.path("file"))
        #expect(!fileExists(folder.path("file")))
        try removeFile(folder.path("file"))
        let error = #expect(throws: FileError.self) { try removeFile(folder.path("folder")) }
        #expect(error?.reason == .isDirectory)
        #expect(fileExists(folder.path("folder")))
    }
}

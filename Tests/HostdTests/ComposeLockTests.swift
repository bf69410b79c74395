import TestSupport
import Testing

@testable import ModuleHost

/// The lock and the plan by themselves, without git.
@Suite("hostd: the lock and the plan of compose")
struct ComposeLockTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func commit(_ number: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: 40 - digits.utf8.count) + digits
    }

    /// Writes and reads a lock.
    private func lock(_ pins: [String], packages: [String]) throws -> ComposeLock {
        try folder.write(
            #"{"lock": 1, "pins": [\#(pins.joined(separator: ","))], "#
                + #""packages": [\#(packages.joined(separator: ","))]}"#, to: "lock")
        return try ComposeLock.read(folder.path("lock"))
    }

    @Test("pins are sorted, and of several for one repository and reference the last counts")
    func repeated() throws {
        func pin(_ name: String, _ reference: String, _ number: Int) -> String {
            #"{"git":"https://x.y/\#(name)"\#(reference),"commit":"\#(commit(number))"}"#
        }
        func package(_ name: String, _ number: Int) -> String {
            #"{"name":"\#(name)","kind":"k","location":"l","commit":"\#(commit(number))"}"#
        }
        let (main, tag) = (#","branch":"main""#, #","tag":"main""#)
        let read = try lock(
            [
                pin("b", main, 1), pin("a", "", 2), pin("b", tag, 3), pin("b", main, 4),
                pin("a", "", 5), pin("b", "", 6),
            ],
            packages: [package("d", 1), package("c", 2), package("d", 3)])
        #expect(read.pins.map(\.repository.last) == ["a", "b", "b", "b"])
        #expect(read.pins.map(\.reference) == [nil, nil, .branch("main"), .tag("main")])
        #expect(read.pins.map(\.commit) == [5, 6, 4, 3].map(commit))
        #expect(read.packages.pins.map(\.name) == ["c", "d"])
        #expect(read.packages.pins.map(\.commit) == [2, 3].map(commit))
    }

    @Test(
        "a lock is read in time that grows with the number of its pins", .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    func manyPins() throws {
        let count = 10_000
        let read = try lock(
            (0..<count).reversed().map {
                #"{"git":"https://x.y/\#(commit($0))","commit":"\#(commit($0))"}"#
            },
            packages: (0..<count).reversed().map {
                #"{"name":"\#(commit($0))","kind":"k","location":"l","version":"1"}"#
            })
        #expect(read.pins.map(\.commit) == (0..<count).map(commit))
        #expect(read.packages.pins.map(\.name) == (0..<count).map(commit))
    }

    @Test(
        "a plan is made in time that grows with the number of modules", .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    func manyPackages() throws {
        let count = 30_000
        let modules = (0..<count).map { number in
            #"{"id":"x.m\#(number)","entry":"A.B","git":"https://x.y/\#(number % (count / 2))"}"#
        }
        let text =
            #"{"slate":1,"app":"a","modules":[{"id":"x.main","entry":"A.B","main":true},"#
            + modules.joined(separator: ",") + "]}"
        let slatefile = try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil })
        let plan = try ComposePlan(
            slatefile, path: "slatefile.json", folder: folder.path,
            host: PackageSource(.git("https://x.y/host", nil), in: folder.path),
            only: slatefile.modules.map(\.id.text))
        #expect(plan.hostModules.map(\.id.text) == ["x.main"])
        #expect(plan.packages.map(\.source.name) == (0..<count / 2).map { "\($0)" })
        #expect(
            plan.packages.map(\.ids)
                == (0..<count / 2).map { ["x.m\($0)", "x.m\($0 + count / 2)"] })
    }
}

import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Black box")
struct BlackBoxTests {
    private let place = EventPosition(segment: 3, offset: 4096)
    private let after = EventPosition(segment: 3, offset: 5000)

    @Test("says which process wrote it, when, and on which start of the machine")
    func head() throws {
        let before = WallTime.now()
        let test = try BlackBoxFolder(app: "démo")
        let contents = try #require(test.contents)
        #expect(test.box.previous == nil)
        #expect(contents.processID == CurrentProcess.id)
        #expect(contents.app == "démo")
        #expect(contents.state == .running)
        #expect(contents.isOfThisBoot)
        #expect((before.seconds...WallTime.now().seconds).contains(contents.startedAt.seconds))
        #expect((contents.activity, contents.module) == (nil, nil))
        #expect(contents.overdue.isEmpty && contents.startingUp.isEmpty && contents.callers.isEmpty)
        #expect(contents.progress == BlackBox.Progress(cursorSequence: 0))
        #expect(try test.folder.mode(of: "blackbox") == 0o600)
        #expect(test.folder.names == ["blackbox"])
    }

    @Test("a name is kept as far as there is room, to the last byte")
    func longName() throws {
        let name = String(repeating: "x", count: BlackBoxLayout.nameLimit)
        #expect(try BlackBoxFolder(app: name).contents?.app == name)
        #expect(try BlackBoxFolder(app: name + "y").contents?.app == name)
    }

    @Test("takes the last one's place only when it begins, and has read it before")
    func previous() throws {
        let first = try BlackBoxFolder(app: "first")
        let second = try BlackBox(in: first.directory, app: "second")
        #expect(second.previous?.app == "first")
        second.setInHand(place, attempt: 2)
        #expect(first.contents?.app == "first")
        #expect(first.contents?.progress?.current == nil)
        // Who dies here has changed nothing: the next one finds the same.
        #expect(try BlackBox(in: first.directory, app: "third").previous?.app == "first")
        let last = try BlackBoxFolder(in: first.folder, app: "last")
        #expect(last.contents?.app == "last")
        #expect(last.folder.names == ["blackbox"])
    }

    @Test(
        "says how the host ended; only what runs can have died",
        arguments: [
            (BlackBox.State.running, "the last host died while no module was running" as String?),
            (.ended, nil), (.overdue, nil),
        ])
    func ends(_ state: BlackBox.State, _ words: String?) throws {
        let test = try BlackBoxFolder()
        test.box.setState(state)
        #expect(test.contents?.state == state)
        #expect(test.lastWords == words)
    }

    @Test("each instant of a durable event says no more than was done")
    func instants() throws {
        let test = try BlackBoxFolder()
        let box = test.box
        func progress() -> (String?, Int?, String?) {
            let progress = test.contents?.progress
            return (
                progress?.current?.position.description, progress?.current?.attempt,
                progress?.next?.description
            )
        }
        #expect(progress() == (nil, nil, nil))
        box.setNext(place)
        #expect(progress() == (nil, nil, "3:4096"))
        box.setInHand(place, attempt: 2)
        #expect(progress() == ("3:4096", 2, "3:4096"))
        box.setNext(after)
        #expect(progress() == (nil, nil, "3:5000"))
        box.setInHand(nil)
        #expect(progress() == (nil, nil, "3:5000"))
        box.setInHand(after, attempt: 1)
        #expect(progress() == ("3:5000", 1, "3:5000"))
        box.setCursorSequence(.max)
        #expect(test.contents?.progress?.cursorSequence == .max)
    }

    @Test("a current event that is delivered once more to some modules alone is reported")
    func againToSome() throws {
        let test = try BlackBoxFolder()
        test.box.setName(try ModuleID("x.a"), of: 1)
        test.box.setNext(after)
        test.box.setBehind(1, place, begun: true)
        test.box.setInHand(place, attempt: 2)
        #expect(test.contents?.progress?.current == .init(position: place, attempt: 2))
        // It was done, and not yet taken out of hand.
        test.box.setBehind(1, after)
        #expect(test.contents?.progress?.current == nil)
    }

    @Test("an event in hand counts where no position was ever noted")
    func firstEver() throws {
        let test = try BlackBoxFolder()
        test.box.setInHand(place, attempt: 1)
        #expect(test.contents?.progress?.current == .init(position: place, attempt: 1))
    }

    @Test("says what each overdue module has not received, and whether it was begun")
    func behind() throws {
        let test = try BlackBoxFolder()
        for (number, name) in [(1, "x.a"), (2, "x.b"), (1024, "x.c")] {
            test.box.setName(try ModuleID(name), of: UInt16(number))
        }
        test.box.setBehind(1, place, begun: true)
        test.box.setBehind(2, after)
        test.box.setBehind(1024, place)
        test.box.setBehind(1024, nil)
        #expect(
            test.contents?.progress?.behind == [
                try ModuleID("x.a"): .init(position: place, begun: true),
                try ModuleID("x.b"): .init(position: after, begun: false),
            ])
    }

    @Test("a module that has two numbers is behind from the first event that one has not received")
    func twoNumbers() throws {
        for places in [[place, after], [after, place]] {
            let test = try BlackBoxFolder()
            for (index, place) in places.enumerated() {
                test.box.setName(try ModuleID("x.a"), of: UInt16(index + 1))
                test.box.setBehind(UInt16(index + 1), place)
            }
            #expect(test.contents?.progress?.behind.values.map(\.position) == [place])
        }
    }

    @Test("has room for four times the modules, and claims nothing once that is not enough")
    func capacity() throws {
        #expect(try BlackBoxFolder(modules: 3).box.capacity == 1024)
        #expect(try BlackBoxFolder(modules: 300).box.capacity == 1200)
        #expect(try BlackBoxFolder(modules: .max / 8).box.capacity == 65_535)
        let test = try BlackBoxFolder()
        test.box.setName(try ModuleID("x.far"), of: 1025)
        test.box.setOverdue(1025, true)
        #expect(test.contents?.progress != nil)
        test.box.setBehind(1025, place)
        #expect(test.contents?.progress == nil)
        #expect(test.contents?.overdue == [])
        #expect(test.lastWords == "the last host died while no module was running")
    }

    @Test("a position of an unknown module makes all positions void")
    func nameless() throws {
        let test = try BlackBoxFolder()
        test.box.setBehind(7, place)
        #expect(test.contents?.progress == nil)
    }

    @Test("a number that is used again says nothing of the module that had it before")
    func reused() throws {
        let test = try BlackBoxFolder()
        test.box.setName(try ModuleID("com.example.a-long-name"), of: 1)
        test.box.setBehind(1, place)
        test.box.setOverdue(1, true)
        test.box.count(tasksOf: 1, 1)
        test.box.noteServices(of: 1)
        #expect(test.contents?.death?.registering.map(\.text) == ["com.example.a-long-name"])
        #expect(test.contents?.startingUp.map(\.text) == ["com.example.a-long-name"])
        #expect(test.contents?.overdue.map(\.text) == ["com.example.a-long-name"])
        test.box.setName(try ModuleID("x.b"), of: 1)
        test.box.setOverdue(1, true)
        #expect(test.contents?.progress?.behind == [:])
        #expect(test.contents?.startingUp == [] && test.contents?.registering == [])
        #expect(test.contents?.overdue.map(\.text) == ["x.b"])
    }

    @Test("names of any length are kept, whole")
    func names() throws {
        let part = String(repeating: "a", count: 62)
        for count in [1, 7, 8, 9, 62] {
            let id = try ModuleID("x." + String(repeating: "b", count: count))
            let longest = try ModuleID("\(part).\(part).\(part).\(part)b")
            let test = try BlackBoxFolder()
            test.box.setName(id, of: 1)
            test.box.setName(longest, of: 2)
            for slot in [1, 2] as [UInt16] { test.box.setOverdue(slot, true) }
            #expect(test.contents?.overdue == [id, longest])
        }
    }

    @Test("each activity has a number of its own, which never changes")
    func activities() throws {
        let test = try BlackBoxFolder()
        let all = EventKind.allCases.map { BlackBox.Activity.event($0) } + [.making, .release]
        #expect(Set(all.map(\.code)).count == all.count)
        for activity in all {
            test.box.setActivity(activity)
            #expect(test.contents?.activity == activity)
        }
        let codes = EventKind.allCases.map { BlackBox.Activity.event($0).code }
        #expect(codes.starts(with: 10...26))
        #expect([BlackBox.Activity.making, .release].map(\.code) == [1, 2])
        test.box.setActivity(nil)
        #expect(test.contents?.activity == nil)
    }

    @Test("gives each thread of the lane a place, as long as there are any, and takes it back")
    func stacks() throws {
        let test = try BlackBoxFolder()
        var stacks = (0..<BlackBoxLayout.stacks).compactMap { _ in test.box.makeStack() }
        #expect(stacks.count == BlackBoxLayout.stacks)
        #expect(Set(stacks.map(\.address)).count == stacks.count)
        #expect(test.box.makeStack() == nil)
        let freed = stacks.remove(at: 5).address
        #expect(test.box.makeStack()?.address == freed)
    }

    @Test("what the disk has no room for, and a folder in the way, are errors that say so")
    func unusable() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("blackbox.new"))
        let box = #expect(throws: FileError.self) {
            try BlackBox(in: StateDirectory(path: folder.path), app: "test")
        }
        #expect(
            box?.description == "cannot create '\(folder.path("blackbox.new"))': File exists")
        let other = try TemporaryFolder()
        try makeFolders(other.path("blackbox"))
        let second = try BlackBox(in: StateDirectory(path: other.path), app: "test")
        #expect(second.previous == nil)
        let error = #expect(throws: FileError.self) { try second.begin() }
        #expect(
            error?.description == "cannot replace '\(other.path("blackbox"))': Is a directory")
        let nowhere = #expect(throws: FileError.self) {
            try BlackBox(in: StateDirectory(path: folder.path("no")), app: "test")
        }
        #expect(nowhere?.reason == .notFound)
    }

    @Test("a box can be removed, and what is half made with it")
    func removed() throws {
        let test = try BlackBoxFolder()
        _ = try BlackBox(in: test.directory, app: "next")
        #expect(test.folder.names == ["blackbox", "blackbox.new"])
        BlackBox.remove(in: test.directory)
        #expect(test.folder.names == [])
    }
}

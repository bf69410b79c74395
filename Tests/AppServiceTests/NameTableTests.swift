import Testing

@testable import AppService

@Suite("Names of tasks")
struct NameTableTests {
    @Test("thousands of names, among them some that differ in little, each find their number")
    func many() {
        var table = NameTable()
        var tasks: [StartupTask] = []
        for number in 0..<5_000 {
            let name = "com.example.module.task-\(number)"
            #expect(table.number(of: name, among: tasks) == nil)
            let isFree = table.add(name, as: number, among: tasks)
            tasks.append(StartupTask(name) {})
            let isFreeAgain = table.add(name, as: number + 1, among: tasks)
            #expect(isFree && !isFreeAgain)
        }
        for (number, task) in tasks.enumerated() {
            #expect(table.number(of: task.name, among: tasks) == Int32(number))
        }
        #expect(table.number(of: "com.example.module.task-5000", among: tasks) == nil)
        #expect(table.number(of: "", among: tasks) == nil)
    }

    @Test("names that come and go are found as in a dictionary", arguments: 0..<20 as Range<UInt64>)
    func removed(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var table = NameTable()
        var known: [String: Int] = [:]
        // Each name in turn, so that the numbers go on.
        let tasks = (0..<3000).map { StartupTask("task-\($0 % 150)") {} }
        for number in tasks.indices {
            let name = tasks[number].name
            if let former = known[name], random.next(below: 2) == 0 {
                table.remove(name, of: former, among: tasks)
                known[name] = nil
            }
            // One that has another number stays.
            if let former = known[name] { table.remove(name, of: former + 150, among: tasks) }
            let isFree = table.add(name, as: number, among: tasks)
            #expect(isFree == (known[name] == nil))
            if isFree { known[name] = number }
            let other = "task-\(random.next(below: 150))"
            #expect(table.number(of: other, among: tasks) == known[other].map(Int32.init))
        }
    }

    @Test("names that are equal are one name, however they are spelt")
    func equal() throws {
        let queue = StartupQueue()
        try queue.register(StartupTask("caf\u{e9}") {})
        #expect(throws: StartupError(diagnostics: [.duplicateName("cafe\u{301}")])) {
            try queue.register(StartupTask("cafe\u{301}") {})
        }
    }
}

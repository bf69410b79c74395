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

    @Test("names that are equal are one name, however they are spelt")
    func equal() throws {
        let queue = StartupQueue()
        try queue.register(StartupTask("caf\u{e9}") {})
        #expect(throws: StartupError(diagnostics: [.duplicateName("cafe\u{301}")])) {
            try queue.register(StartupTask("cafe\u{301}") {})
        }
    }
}

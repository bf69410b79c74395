import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Log")
struct LogTests {
    @Test("each level has its function, and the record says whose log it was")
    func levels() {
        let recorder = LogRecorder()
        let log = recorder.log.of(module: "com.mm.push")
        log.debug("a")
        log.info("b")
        log.notice("c")
        log.warning("d")
        log.error("e")
        #expect(recorder.records.map(\.level) == LogLevel.allCases)
        #expect(recorder.messages == ["a", "b", "c", "d", "e"])
        #expect(recorder.records.allSatisfy { $0.module == "com.mm.push" })
    }

    @Test("below the threshold nothing is written and no message made")
    func threshold() {
        let recorder = LogRecorder()
        let log = Log(to: recorder, threshold: .warning)
        var made = 0
        func message() -> String {
            made += 1
            return "made"
        }
        log.info(message())
        log.notice(message())
        log.warning(message())
        #expect(made == 1)
        #expect(recorder.messages == ["made"])
        #expect(!log.isEnabled(.notice) && log.isEnabled(.error))
    }

    @Test("event, duration and fields reach the record")
    func parts() {
        let recorder = LogRecorder()
        recorder.log.write(
            .info, "handled", event: "push", duration: .microseconds(84),
            fields: [LogField("badge", 3)])
        let record = recorder.records.first
        #expect(record?.event == "push")
        #expect(record?.duration == .microseconds(84))
        #expect(record?.fields == [LogField("badge", 3)])
        #expect(record?.module == nil)
    }

    @Test("fields of a module reach the record, and none takes the name of a part of it")
    func fields() {
        let recorder = LogRecorder()
        recorder.log.of(module: "x.a").write(
            .notice, "sold", fields: [LogField("count", 3), LogField("message", "forged")])
        let record = recorder.records.first
        #expect(record?.message == "sold")
        #expect(record?.module == "x.a")
        #expect(record?.fields.map(\.name) == ["count", "message_"])
        #expect(record?.fields.map(\.text) == ["3", "forged"])
    }

    @Test("the fields of a line below the threshold are not made")
    func fieldsBelowThreshold() {
        let recorder = LogRecorder()
        func fields() -> [LogField] {
            Issue.record("the fields were made")
            return []
        }
        Log(to: recorder, threshold: .warning).write(.info, "sold", fields: fields())
        #expect(recorder.records.isEmpty)
    }

    @Test("a record can be awaited before and after it is written", .timeLimit(.minutes(10)))
    func awaiting() async {
        let recorder = LogRecorder()
        recorder.log.info("early bird")
        #expect(await recorder.first(containing: "early").message == "early bird")
        async let late = recorder.first { $0.level == .error }
        recorder.log.info("not this")
        recorder.log.error("late")
        #expect(await late.message == "late")
    }
}

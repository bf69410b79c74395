import Testing

@testable import ModuleHostCore

@Suite("Remote notifications as they mostly are")
struct PlainNotificationTests {
    /// Has its member read by keys.
    private struct ByKeys: Decodable {
        let n: RemoteNotification
    }

    private func byKeys(_ text: String) throws -> RemoteNotification {
        try JSONValue(parsing: #"{"n":\#(text)}"#).decode(ByKeys.self).n
    }

    @Test(
        "read at once, and the same as by keys",
        arguments: [
            "{}",
            #"{"aps":null,"order":17}"#,
            #"{"aps":{}}"#,
            #"{"aps":{"badge":3}}"#,
            #"{"aps":{"alert":"a\n\u00e9","badge":0,"sound":"bing","category":"c","thread-id":"t"}}"#,
            #"{"aps":{"content-available":1},"x":[]}"#,
            #"{"aps":{"content-available":0}}"#,
        ])
    func same(text: String) throws {
        let plain = try #require(RemoteNotification(plain: JSONValue(parsing: text)))
        #expect(try plain.aps == byKeys(text).aps)
    }

    @Test(
        "left to the keys, and as those have it",
        arguments: [
            "[]", "3",
            #"{"aps":3}"#,
            #"{"aps":{"badge":-1}}"#,
            #"{"aps":{"badge":1.0}}"#,
            #"{"aps":{"badge":null}}"#,
            #"{"aps":{"bagde":1}}"#,
            #"{"aps":{"unknown":null}}"#,
            #"{"aps":{"alert":{"title":"t"}}}"#,
            #"{"aps":{"alert":3}}"#,
            #"{"aps":{"content-available":true}}"#,
            #"{"aps":{"relevance-score":0.5}}"#,
        ])
    func left(text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(RemoteNotification(plain: value) == nil)
        guard let notification = try? value.decode(RemoteNotification.self) else {
            #expect(throws: JSONError.self) { try byKeys(text) }
            return
        }
        #expect(try notification.aps == byKeys(text).aps)
    }
}

import Testing

@testable import ModuleHostCore

@Suite("A template with placeholders")
struct FilledTemplateTests {
    @Test(
        "placeholders are replaced once, and other underscores stay",
        arguments: [
            ("a __ID__ b __ID__", "a __X__ b __X__"),
            ("def __init__(self): __ID__", "def __init__(self): __X__"),
            ("self.__count, __ID____LABEL__", "self.__count, __X__l"),
            ("__UNKNOWN__ and __", "__UNKNOWN__ and __"), ("", ""),
        ])
    func filled(template: String, text: String) {
        let values = ["__ID__": "__X__", "__X__": "wrong", "__LABEL__": "l"]
        #expect(filledTemplate(Array(template.utf8), values) == text)
    }
}

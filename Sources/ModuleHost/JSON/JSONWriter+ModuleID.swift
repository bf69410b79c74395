extension JSONWriter {
    /// Writes a member that lists modules by their ids.
    package mutating func member(_ key: String, _ modules: [ModuleID]) {
        member(key) { $0.array { for module in modules { $0.value(module.text) } } }
    }
}

extension AnyRoute {
    /// Writes the description of the route, as in the response to `initialize`.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("pattern", pattern.text)
            $0.member("action", action)
            $0.member("access", access.rawValue)
            $0.member("summary", summary)
            if let replyType { $0.member("reply", replyType) }
            if let later = handler.later {
                $0.member("later", true)
                if let deadline = later.deadline {
                    $0.member("deadlineMs", deadline.wholeNanoseconds / 1_000_000)
                }
            }
            $0.member("parameters") { json in
                json.objects(for: request.fields) { field, json in
                    json.member("name", field.name)
                    json.member("type", field.type)
                    json.member("expects", field.expectation)
                    json.member("values", field.values)
                    json.member("required", !field.isOptional)
                    json.member("list", field.isList)
                }
            }
        }
    }
}

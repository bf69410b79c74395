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
                json.array { json in
                    for field in request.fields {
                        json.object {
                            $0.member("name", field.name)
                            $0.member("type", field.type)
                            $0.member("expects", field.expectation)
                            $0.member("values", field.values)
                            $0.member("required", !field.isOptional)
                            $0.member("list", field.isList)
                        }
                    }
                }
            }
        }
    }
}

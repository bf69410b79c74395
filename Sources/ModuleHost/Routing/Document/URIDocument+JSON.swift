extension URIDocument {
    /// Writes the document as one object, whose form is stable from version to version: members may be added,
    /// none is renamed, removed or given another type.
    ///
    /// ```text
    /// {
    ///   "app": "demo",
    ///   "schemes": ["slate"],
    ///   "fallback": null,
    ///   "incomplete": ["com.mm.weather"],
    ///   "instead": [{ "module": "com.mm.shop", "url": "https://m.example.com/*" }],
    ///   "routes": [
    ///     {
    ///       "module": "com.mm.community",
    ///       "pattern": "user/:name/posts",
    ///       "action": "user/:name/posts",
    ///       "access": "public",
    ///       "summary": "What a user wrote.",
    ///       "parameters": [
    ///         {
    ///           "name": "page",
    ///           "in": "query",
    ///           "type": "Int",
    ///           "expects": "a whole number",
    ///           "values": [],
    ///           "required": false,
    ///           "list": false
    ///         }
    ///       ],
    ///       "partial": false,
    ///       "reply": "[Post]",
    ///       "answersLater": false,
    ///       "deadlineMs": null,
    ///       "example": "slate://com.mm.community/user/mia/posts?page=1"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// `incomplete` and `instead` are left out where they are empty. `access` is `local`, `authorized` or `public`, `in` is `path` or `query`. `fallback`, `type`, `reply`,
    /// `deadlineMs` and `example` may be null; `values` has the possible values of an enum.
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("app", app)
            $0.member("schemes", schemes)
            $0.member("fallback", fallback)
            if !incomplete.isEmpty { $0.member("incomplete", incomplete) }
            if !instead.isEmpty {
                $0.member("instead") {
                    $0.array { json in for taken in instead { taken.write(to: &json) } }
                }
            }
            $0.member("routes") {
                $0.array { json in for route in routes { route.write(to: &json) } }
            }
        }
    }
}

extension URIDocument.Route {
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            $0.member("module", module)
            $0.member("pattern", pattern)
            $0.member("action", action)
            $0.member("access", access.rawValue)
            $0.member("summary", summary)
            $0.member("parameters") {
                $0.array { json in for parameter in parameters { parameter.write(to: &json) } }
            }
            $0.member("partial", isPartial)
            $0.member("reply", reply)
            $0.member("answersLater", answersLater)
            $0.member("deadlineMs") { json in
                if let deadline {
                    json.value(deadline.wholeNanoseconds / 1_000_000)
                } else {
                    json.null()
                }
            }
            $0.member("example", example)
        }
    }
}

extension URIDocument.Parameter {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("name", name)
            $0.member("in", place.rawValue)
            $0.member("type", type)
            $0.member("expects", expectation)
            $0.member("values", values)
            $0.member("required", isRequired)
            $0.member("list", isList)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ key: String, _ value: String?) {
        member(key) { json in
            if let value { json.value(value) } else { json.null() }
        }
    }
}

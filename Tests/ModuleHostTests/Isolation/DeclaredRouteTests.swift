import Testing

@testable import ModuleHostCore

@Suite("Route of a module in a process of its own")
struct DeclaredRouteTests {
    /// A route with one parameter.
    private func route(_ parameter: String) throws -> DeclaredRoute {
        try JSONValue(parsing: #"{"pattern":"p","parameters":[\#(parameter)]}"#).decode()
    }

    private func parameters(_ text: String) throws -> RouteParameters {
        RouteParameters(try JSONValue(parsing: text))
    }

    @Test(
        "parameters that the route takes",
        arguments: [
            (#"{"name":"x"}"#, #"{"x":"","y":"whatever else"}"#),
            (#"{"name":"x","required":false}"#, "{}"),
            (#"{"name":"x","type":"Int","required":false}"#, #"{"x":null}"#),
            (#"{"name":"x","type":"Int"}"#, #"{"x":"-9223372036854775808"}"#),
            (#"{"name":"x","type":"Double"}"#, #"{"x":"-1.5e3"}"#),
            (#"{"name":"x","type":"Double"}"#, #"{"x":3}"#),
            (#"{"name":"x","type":"Bool"}"#, #"{"x":"0"}"#),
            (#"{"name":"x","type":"Bool"}"#, #"{"x":true}"#),
            (#"{"name":"x","type":"String"}"#, #"{"x":"1"}"#),
            (#"{"name":"x","type":"City"}"#, #"{"x":"Oslo"}"#),
            (#"{"name":"x","values":["a","b"]}"#, #"{"x":"b"}"#),
            (#"{"name":"x","values":[]}"#, #"{"x":"b"}"#),
            // The values say all.
            (#"{"name":"x","type":"Int","values":["few"]}"#, #"{"x":"few"}"#),
            (#"{"name":"x","list":true}"#, #"{"x":[]}"#),
            (#"{"name":"x","list":true}"#, #"{"x":"a"}"#),
            (#"{"name":"x","type":"Int","list":true}"#, #"{"x":[1,2,3]}"#),
            (#"{"name":"x","list":true,"required":false}"#, "{}"),
        ])
    func taken(parameter: String, given: String) throws {
        let (route, parameters) = (try route(parameter), try parameters(given))
        #expect(throws: Never.self) { try route.check(parameters) }
    }

    @Test(
        "parameters that it does not take, and why",
        arguments: [
            (#"{"name":"x"}"#, "{}", "parameter 'x' is missing: expected text"),
            (#"{"name":"x"}"#, #"{"X":"a"}"#, "parameter 'x' is missing: expected text"),
            (
                #"{"name":"x","type":"Int"}"#, "{}",
                "parameter 'x' is missing: expected a whole number"
            ),
            (#"{"name":"x"}"#, #"{"x":[]}"#, "parameter 'x' is missing: expected text"),
            (
                #"{"name":"x","required":false}"#, #"{"x":[]}"#,
                "parameter 'x' is missing: expected text"
            ),
            (
                #"{"name":"x","type":"Int","list":true}"#, "{}",
                "parameter 'x' is missing: expected values, each a whole number"
            ),
            (
                #"{"name":"x","expects":"a city"}"#, "{}",
                "parameter 'x' is missing: expected a city"
            ),
            (
                #"{"name":"x","list":true,"expects":"some cities"}"#, "{}",
                "parameter 'x' is missing: expected some cities"
            ),
            (
                #"{"name":"x","list":true,"values":["a","b"]}"#, "{}",
                "parameter 'x' is missing: expected values, each one of 'a', 'b'"
            ),
            (
                #"{"name":"x"}"#, #"{"x":["a","b","c"]}"#,
                "parameter 'x' is given 3 times; it takes one value"
            ),
            (
                #"{"name":"x","list":false,"required":false}"#, #"{"x":["a","b"]}"#,
                "parameter 'x' is given 2 times; it takes one value"
            ),
            (
                #"{"name":"x","type":"Int"}"#, #"{"x":"red"}"#,
                "parameter 'x': expected a whole number, found 'red'"
            ),
            (
                #"{"name":"x","type":"Int"}"#, #"{"x":1.0}"#,
                "parameter 'x': expected a whole number, found '1.0'"
            ),
            (
                #"{"name":"x","type":"Int"}"#, #"{"x":"+1"}"#,
                "parameter 'x': expected a whole number, found '+1'"
            ),
            (
                #"{"name":"x","type":"Int"}"#, #"{"x":"9223372036854775808"}"#,
                "parameter 'x': 9223372036854775808 does not fit Int"
            ),
            (
                #"{"name":"x","type":"Double"}"#, #"{"x":"nan"}"#,
                "parameter 'x': expected a number, found 'nan'"
            ),
            (
                #"{"name":"x","type":"Double"}"#, #"{"x":"0x1p3"}"#,
                "parameter 'x': expected a number, found '0x1p3'"
            ),
            (
                #"{"name":"x","type":"Double"}"#, #"{"x":"1e999"}"#,
                "parameter 'x': 1e999 does not fit Double"
            ),
            (
                #"{"name":"x","type":"Bool"}"#, #"{"x":"yes"}"#,
                "parameter 'x': expected true, false, 1 or 0, found 'yes'"
            ),
            (
                #"{"name":"x","type":"Bool","required":false}"#, #"{"x":""}"#,
                "parameter 'x': expected true, false, 1 or 0, found ''"
            ),
            (
                #"{"name":"x","values":["a","b"]}"#, #"{"x":"A"}"#,
                "parameter 'x': expected one of 'a', 'b', found 'A'"
            ),
            // What looks the same is not the same.
            (
                #"{"name":"x","values":["\u00e9"]}"#, #"{"x":"e\u0301"}"#,
                "parameter 'x': expected one of '\u{e9}', found 'e\u{301}'"
            ),
            (
                #"{"name":"x","type":"Int","list":true}"#, #"{"x":[1,"two",3]}"#,
                "parameter 'x': expected a whole number, found 'two'"
            ),
            (
                #"{"name":"x","values":["a"],"list":true}"#, #"{"x":["a","c"]}"#,
                "parameter 'x': expected one of 'a', found 'c'"
            ),
            (
                #"{"name":"x","type":"Int","expects":"1 to 7"}"#, #"{"x":"many"}"#,
                "parameter 'x': expected 1 to 7, found 'many'"
            ),
        ])
    func refused(parameter: String, given: String, text: String) throws {
        let (route, parameters) = (try route(parameter), try parameters(given))
        let error = try #require(throws: ParameterError.self) { try route.check(parameters) }
        #expect("\(error)".unicodeScalars.elementsEqual(text.unicodeScalars), "\(error)")
    }

    @Test("of several invalid parameters the first is reported")
    func first() throws {
        let route: DeclaredRoute = try JSONValue(
            parsing: #"{"pattern":"p","parameters":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#
        ).decode()
        let given = try parameters(#"{"a":"1"}"#)
        let error = try #require(throws: ParameterError.self) { try route.check(given) }
        #expect("\(error)" == "parameter 'b' is missing: expected text")
    }

    @Test("a route that declares no parameters takes any")
    func undeclared() throws {
        let route: DeclaredRoute = try JSONValue(parsing: #"{"pattern":"p"}"#).decode()
        let given = try parameters(#"{"a":["1","2"]}"#)
        #expect(throws: Never.self) { try route.check(given) }
        #expect(route.request.fields.isEmpty && route.request.isComplete)
    }

    // MARK: Description

    typealias Field = RequestDescription.Field

    @Test(
        "a parameter as the URI document shows it, with an example that the route takes",
        arguments: [
            (
                #"{"name":"x"}"#,
                Field(
                    name: "x", type: "String", expectation: "text", values: [], isOptional: false,
                    isList: false, example: "text")
            ),
            (
                #"{"name":"x","type":"Int","required":false}"#,
                Field(
                    name: "x", type: "Int", expectation: "a whole number", values: [],
                    isOptional: true, isList: false, example: "1")
            ),
            (
                #"{"name":"x","type":"Double","expects":"degrees"}"#,
                Field(
                    name: "x", type: "Double", expectation: "degrees", values: [],
                    isOptional: false, isList: false, example: "1")
            ),
            (
                #"{"name":"x","type":"Bool"}"#,
                Field(
                    name: "x", type: "Bool", expectation: "true, false, 1 or 0", values: [],
                    isOptional: false, isList: false, example: "1")
            ),
            (
                #"{"name":"x","type":"City"}"#,
                Field(
                    name: "x", type: "City", expectation: "text", values: [], isOptional: false,
                    isList: false, example: "text")
            ),
            (
                #"{"name":"x","values":["b","a"],"list":true}"#,
                Field(
                    name: "x", type: "String", expectation: "values, each one of 'b', 'a'",
                    values: ["b", "a"], isOptional: false, isList: true, example: "b")
            ),
        ])
    func described(parameter: String, field: Field) throws {
        let route = try route(parameter)
        #expect(route.request.fields == [field])
        #expect(route.request.isComplete)
        #expect(throws: Never.self) { try route.check(["x": field.example]) }
    }

    // MARK: Calls

    @Test(
        "a parameter that is a list is sent as one, whatever its values",
        arguments: [
            (#"{"name":"x"}"#, #"{"x":"a"}"#, #"{"x":"a"}"#),
            (#"{"name":"x","list":true}"#, #"{"x":"a"}"#, #"{"x":["a"]}"#),
            (#"{"name":"x","list":true}"#, #"{"x":["a",2]}"#, #"{"x":["a","2"]}"#),
            (#"{"name":"x","list":true}"#, #"{"x":[]}"#, #"{"x":[]}"#),
            // What the route does not know comes as it is.
            (
                #"{"name":"x"}"#, #"{"x":"a","y":["1","2"],"z":[true]}"#,
                #"{"x":"a","y":["1","2"],"z":"true"}"#
            ),
        ])
    func call(parameter: String, given: String, sent: String) throws {
        var json = JSONWriter()
        json.parameters(
            of: try route(parameter), try parameters(given),
            RouteCall(origin: .local(try ModuleID("com.example.a"))), nil)
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"action":"p","parameters":\#(sent),"origin":"com.example.a","#
                + #""from":{"kind":"local","module":"com.example.a"}}"#)
    }

    @Test("a call by URL has it, under the name of the action")
    func callByURL() throws {
        let route: DeclaredRoute = try JSONValue(
            parsing: #"{"pattern":"p/:x","action":"do"}"#
        ).decode()
        var json = JSONWriter()
        json.parameters(
            of: route, ["x": "a"],
            RouteCall(origin: .inbox, url: try RouteURL("slate://com.example.a/p/a")), nil)
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"action":"do","parameters":{"x":"a"},"origin":"inbox","#
                + #""from":{"kind":"inbox"},"url":"slate://com.example.a/p/a"}"#)
    }
}

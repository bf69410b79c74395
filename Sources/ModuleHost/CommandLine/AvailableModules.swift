/// The classes of this program that a slatefile can name as entries: the listing of
/// `hostd modules --available`.
struct AvailableModules {
    /// One class.
    private struct Entry {
        let name: String
        /// The package that it was composed of.
        let package: HostComposition.Package?
        let isMain: Bool
        let services: [String]
        /// The settings; nil for a module that declares none.
        let settings: RequestDescription?
        let routes: [URIDocument.Route]

        init(_ name: String, _ type: any Module.Type, _ composition: HostComposition?) {
            self.name = name
            let target = String(name.prefix { $0 != "." })
            package = composition?.packages.first { $0.targets.contains(target) }
            isMain = type is any RootProvider.Type
            services = (type as? any ServiceProvider.Type)?.services.map { "\($0)" } ?? []
            settings = (type as? any ConfiguredModule.Type)?.settings
            routes =
                (type as? any RoutedModule.Type).map {
                    URIDocument(RouteTable(of: $0), app: name).routes
                } ?? []
        }
    }

    private let entries: [Entry]

    /// - Parameter composition: What this program was composed of.
    init(of composition: HostComposition? = nil) {
        entries = EntryType.all.map { Entry($0.entry, $0.type, composition) }
    }

    /// The listing for a person: a line for each setting, service and route.
    var text: TerminalText {
        guard !entries.isEmpty else { return "no class of this program is a module\n" }
        let rows = entries.flatMap { entry in
            var rows: [[String]] = []
            if let package = entry.package { rows.append(["package", package.words]) }
            if entry.isMain { rows.append(["root", "can be the main module"]) }
            rows += entry.services.map { ["service", $0] }
            rows += entry.settings?.fields.map { ["setting", $0.name, $0.typeInWords] } ?? []
            if entry.settings?.isComplete == false { rows.append(["setting", "…"]) }
            rows += entry.routes.map { route in
                [
                    "route", route.pattern, route.access.rawValue,
                    "(\(route.parameterList))" + (route.reply.map { " -> \($0)" } ?? ""),
                ]
            }
            if rows.isEmpty { rows = [[""]] }
            return rows.enumerated().map { index, row in
                let row = [index == 0 ? entry.name : ""] + row
                return row + Array(repeating: "", count: 5 - row.count)
            }
        }
        return textTable([["entry", "has", "", "", ""]] + rows, keeping: 4)
    }

    /// The listing for programs: an array with an object for each class.
    ///
    /// Members may be added in later
    /// versions, none is renamed or removed.
    var json: [UInt8] {
        var json = JSONWriter()
        json.objects(for: entries) { entry, json in
            json.member("entry", entry.name)
            if let package = entry.package {
                json.member("package", package.name)
                if let commit = package.commit { json.member("commit", commit) }
                json.member("modified", package.isModified)
            }
            json.member("main", entry.isMain)
            json.member("services", entry.services)
            if let settings = entry.settings { write(settings, to: &json) }
            json.member("routes") {
                $0.array { for route in entry.routes { write(route, to: &$0) } }
            }
        }
        json.newline()
        return json.bytes
    }

    private func write(_ settings: RequestDescription, to json: inout JSONWriter) {
        json.member("settings") {
            $0.objects(for: settings.fields) { field, json in
                json.member("name", field.name)
                json.member("type", swiftSpelling(field.type))
                json.member("expects", field.expectation)
                json.member("values", field.values)
                json.member("required", !field.isOptional)
            }
        }
        // A type may reject an example value before it asks for the rest.
        json.member("partial", !settings.isComplete)
    }

    private func write(_ route: URIDocument.Route, to json: inout JSONWriter) {
        json.object {
            $0.member("pattern", route.pattern)
            $0.member("action", route.action)
            $0.member("access", route.access.rawValue)
            $0.member("summary", route.summary)
            $0.member("parameters") {
                $0.array { for parameter in route.parameters { parameter.write(to: &$0) } }
            }
            $0.member("partial", route.isPartial)
            if let reply = route.reply { $0.member("reply", reply) }
        }
    }
}

extension ConfiguredModule {
    fileprivate static var settings: RequestDescription {
        RequestDescription(of: Configuration.self)
    }
}

extension RequestDescription.Field {
    /// The type, or the values of an enum; with a question mark where the setting is optional.
    fileprivate var typeInWords: String {
        let name = values.isEmpty ? swiftSpelling(type) : values.joined(separator: "|")
        return isOptional ? name + "?" : name
    }
}

extension HostComposition.Package {
    /// The package in words: `push 1a2b3c4d5e6f, branch main, modified`.
    var words: String {
        let parts = [
            commit.map { "\(name) \($0.prefix(12))" } ?? name, reference,
            isModified ? "modified" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

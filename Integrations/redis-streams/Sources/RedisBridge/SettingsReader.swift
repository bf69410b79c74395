import EventStreams

/// The keys of a bridge's `config`.
enum SettingKey: String, CaseIterable, CodingKey {
    case url, app, topics, receive, share, group, claim, from, window, trim, requireDurable,
        insecure, relay
    case passwordFile, password
}

/// A value of a bridge's `config`.
enum SettingValue: Hashable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case texts([String])
}

/// Reads the keys of a bridge's `config`, and collects the errors.
final class SettingsReader {
    private let values: [SettingKey: SettingValue]
    var errors: [String] = []

    init(_ values: [SettingKey: SettingValue]) { self.values = values }

    /// Returns the values of a `config`.
    ///
    /// - Throws: ``BridgeSettingsError`` with all unknown keys and values of no known type.
    static func values(_ decoder: any Decoder) throws -> [SettingKey: SettingValue] {
        let container = try decoder.container(keyedBy: AnyKey.self)
        var (values, errors): ([SettingKey: SettingValue], [String]) = ([:], [])
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard let known = SettingKey(rawValue: key.stringValue) else {
                let keys = SettingKey.allCases.map(\.rawValue).joined(separator: ", ")
                errors.append(
                    "\(quoted(key.stringValue)) is not a key of a bridge: those are \(keys)")
                continue
            }
            if let text = try? container.decode(String.self, forKey: key) {
                values[known] = .text(text)
            } else if let flag = try? container.decode(Bool.self, forKey: key) {
                values[known] = .flag(flag)
            } else if let number = try? container.decode(Int.self, forKey: key) {
                values[known] = .number(number)
            } else if let texts = try? container.decode([String].self, forKey: key) {
                values[known] = .texts(texts)
            } else {
                errors.append(
                    "'\(known.rawValue)' is not a text, a whole number, true, false, or an array of texts"
                )
            }
        }
        guard errors.isEmpty else { throw BridgeSettingsError(errors: errors) }
        return values
    }

    func has(_ key: SettingKey) -> Bool { values[key] != nil }

    /// Does something that may throw, and keeps the error.
    func collect(_ body: () throws(StreamError) -> Void) {
        do throws(StreamError) { try body() } catch { errors.append(error.description) }
    }

    /// Returns what a text stands for; nil without the key, or after an error.
    func read<Value>(
        _ key: SettingKey, _ convert: (String) throws(StreamError) -> Value
    ) -> Value? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value else {
            errors.append("'\(key.rawValue)' must be a text")
            return nil
        }
        var result: Value?
        collect { () throws(StreamError) in result = try convert(text) }
        return result
    }

    func flag(_ key: SettingKey, default: Bool) -> Bool {
        guard let value = values[key] else { return `default` }
        if case .flag(let flag) = value { return flag }
        errors.append("'\(key.rawValue)' must be true or false")
        return `default`
    }

    func number(_ key: SettingKey, in range: ClosedRange<Int>, default: Int) -> Int {
        guard let value = values[key] else { return `default` }
        if case .number(let number) = value, range.contains(number) { return number }
        errors.append(
            "'\(key.rawValue)' must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
        return `default`
    }

    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ key: SettingKey, default: Value
    ) -> Value {
        let choices = Value.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or ")
        return read(key) { text throws(StreamError) in
            guard let value = Value(rawValue: text) else {
                throw .invalid("'\(key.rawValue)' must be \(choices), not \(quoted(text))")
            }
            return value
        } ?? `default`
    }

    /// A whole number and a unit: `s`, `m`, `h` or `d`.
    func duration(_ key: SettingKey, default: Duration) -> Duration {
        read(key) { text throws(StreamError) in
            let seconds = ["s": 1, "m": 60, "h": 3600, "d": 86400][String(text.suffix(1))]
            let number = text.dropLast()
            guard let seconds, let count = Int(number), !number.hasPrefix("+"),
                (1...36500 * 86400 / seconds).contains(count)
            else {
                throw .invalid(
                    "'\(key.rawValue)' must be a whole number and a unit, such as '7d', '12h', '30m' or '90s', not \(quoted(text))"
                )
            }
            return .seconds(count * seconds)
        } ?? `default`
    }

    /// - Parameter default: The topics without the key; nil if it is required.
    func topics(_ key: SettingKey, default: [String]?) -> TopicFilter {
        switch values[key] {
        case .texts(let topics) where !topics.isEmpty && topics.allSatisfy(TopicFilter.isValid):
            return TopicFilter(topics)
        case nil:
            if let `default` { return TopicFilter(`default`) }
            errors.append(
                "'\(key.rawValue)' is missing: which messages go out? Such as [\"shared.*\"], or [] for none"
            )
        case .texts(let topics) where topics.isEmpty: break
        default:
            errors.append(
                "'\(key.rawValue)' must be an array of topics: exact ones, prefixes such as \"shared.*\", or \"*\""
            )
        }
        return TopicFilter([])
    }
}

/// Any key.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

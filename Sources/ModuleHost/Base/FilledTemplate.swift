/// Returns the text of a template, with its placeholders between double underscores replaced.
///
/// In one pass: a value that looks like a placeholder stays, and so does a placeholder without a value.
///
/// - Parameters:
///   - template: The template.
///   - values: The values by placeholder, such as `__ID__`.
/// - Returns: The text.
package func filledTemplate(_ template: [UInt8], _ values: [String: String]) -> String {
    var result = ""
    var rest = String(decoding: template, as: UTF8.self)[...]
    while let start = rest.firstRange(ofBytes: "__"),
        let end = rest[start.upperBound...].firstRange(ofBytes: "__")
    {
        if let value = values[String(rest[start.lowerBound..<end.upperBound])] {
            result += rest[..<start.lowerBound] + value
            rest = rest[end.upperBound...]
        } else {
            result += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
        }
    }
    return result + rest
}

/// A number in units, with some decimals.
func decimal(_ number: Int, per unit: Int, digits: Int = 1) -> String {
    if number < 0 { return "−" + decimal(-number, per: unit, digits: digits) }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let fraction = "\(number % unit * scale / unit)"
    let zeros = String(repeating: "0", count: digits - fraction.utf8.count)
    return "\(number / unit).\(zeros)\(fraction)"
}

extension [Int] {
    /// The middle one; zero of none.
    var median: Int { isEmpty ? 0 : sorted()[count / 2] }
}

/// By how much the second numbers grow for each one of the first: the line that fits them best.
func slope(_ points: [(x: Int, y: Int)]) -> Int {
    let count = points.count
    let (sumX, sumY) = (points.map(\.x).reduce(0, +), points.map(\.y).reduce(0, +))
    let products = points.map { $0.x * $0.y }.reduce(0, +)
    let squares = points.map { $0.x * $0.x }.reduce(0, +)
    return (count * products - sumX * sumY) / (count * squares - sumX * sumX)
}

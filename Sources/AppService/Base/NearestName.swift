/// Returns the candidate that `name` most resembles, or nil where none is similar enough to be the intended
/// name.
///
/// Distance is optimal string alignment (insertions, deletions, substitutions and swaps of neighbors count
/// one each), without regard to case. Similar enough means at most a third of the longer name's length, and
/// at least one; the parts that two names share at their beginning, up to a dot or a slash, do not count, since
/// all modules of an app may begin alike. Ties go to the earlier candidate.
package func nearestName(
    to name: String, in candidates: some Sequence<String>
) -> String? {
    // A name that is too long to be a mistake is not worth quadratic time.
    let wanted = Array(name.lowercased().unicodeScalars.prefix(200))
    var best: (name: String, distance: Int)?
    for candidate in candidates {
        let other = Array(candidate.lowercased().unicodeScalars.prefix(200))
        let longest = max(wanted.count, other.count) - sharedParts(wanted, other)
        let limit = max(1, longest / 3)
        guard abs(wanted.count - other.count) <= limit else { continue }
        let distance = alignmentDistance(wanted, other)
        guard distance <= limit, distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
        if distance == 0 { break }
    }
    return best?.name
}

/// Returns the length of the parts with which both names begin, the separator of the last one included.
private func sharedParts(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var length = 0
    for (index, (one, other)) in zip(a, b).enumerated() {
        guard one == other else { break }
        if one == "." || one == "/" { length = index + 1 }
    }
    return length
}

private func alignmentDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    var row = last
    for i in 1...a.count {
        row[0] = i
        for j in 1...b.count {
            let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
            row[j] = min(last[j] + 1, row[j - 1] + 1, substitution)
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                row[j] = min(row[j], beforeLast[j - 2] + 1)
            }
        }
        (beforeLast, last, row) = (last, row, beforeLast)
    }
    return last[b.count]
}

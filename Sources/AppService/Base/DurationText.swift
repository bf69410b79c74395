extension Duration {
    /// The duration in brief form: at most three significant digits and a suitable unit, such as `850ns`,
    /// `12.3µs`,
    /// `4.07ms`, `1.5s`; from a minute on two units, such as `2m05s`, `3h05m`, `12d03h`.
    package var briefText: String {
        let nanoseconds = wholeNanoseconds
        if nanoseconds < 0 { return "-" + (Duration.zero - self).briefText }
        switch nanoseconds {
        case ..<1_000: return "\(nanoseconds)ns"
        case ..<1_000_000: return Self.text(nanoseconds, per: 1_000) + "µs"
        case ..<1_000_000_000: return Self.text(nanoseconds, per: 1_000_000) + "ms"
        case ..<60_000_000_000: return Self.text(nanoseconds, per: 1_000_000_000) + "s"
        default:
            let seconds = nanoseconds / 1_000_000_000
            let (unit, name, part, partName) =
                switch seconds {
                case ..<3600: (60, "m", 1, "s")
                case ..<86_400: (3600, "h", 60, "m")
                default: (86_400, "d", 3600, "h")
                }
            let rest = seconds % unit / part
            return "\(seconds / unit)\(name)" + (rest < 10 ? "0" : "") + "\(rest)\(partName)"
        }
    }

    /// Returns `value / unit`, cut (never rounded up into the next unit) to three significant digits.
    private static func text(_ value: Int, per unit: Int) -> String {
        let whole = value / unit
        let digits = whole >= 100 ? 0 : whole >= 10 ? 1 : 2
        guard digits > 0 else { return "\(whole)" }
        let scale = digits == 1 ? 10 : 100
        var fraction = "\(value % unit * scale / unit)"
        while fraction.utf8.count < digits { fraction = "0" + fraction }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }
}

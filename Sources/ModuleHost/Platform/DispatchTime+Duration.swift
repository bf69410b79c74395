import AppService
import Dispatch

extension DispatchTime {
    /// The instant so long from now.
    static func after(_ duration: Duration) -> DispatchTime {
        .now() + DispatchTimeInterval.nanoseconds(duration.wholeNanoseconds)
    }

    /// The milliseconds until then: 0 if it is past, else at least 1.
    var millisecondsLeft: Int32 {
        let now = DispatchTime.now()
        guard self > now else { return 0 }
        let nanoseconds = uptimeNanoseconds - now.uptimeNanoseconds
        return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
}

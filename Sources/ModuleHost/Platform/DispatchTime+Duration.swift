import AppService
import Dispatch

extension DispatchTime {
    /// Returns the instant that is `duration` from now.
    static func after(_ duration: Duration) -> DispatchTime {
        now().later(by: duration)
    }

    func later(by duration: Duration) -> DispatchTime {
        self + DispatchTimeInterval.nanoseconds(duration.wholeNanoseconds)
    }

    /// The milliseconds until the instant: 0 if it is past, else at least 1.
    var millisecondsLeft: Int32 {
        let now = DispatchTime.now()
        guard self > now else { return 0 }
        let nanoseconds = uptimeNanoseconds - now.uptimeNanoseconds
        return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
}

internal import Glibc

/// A place where one thread sleeps until an instant of the monotonic clock, or until another wakes it.
///
/// A condition of the system rather than a semaphore of Dispatch, whose timed wait follows the wall clock: a
/// deadline would move when the date is set.
///
/// `@unchecked Sendable`: the two pointers are set once, and freed when no thread has a reference. `isRung`
/// is accessed under the mutex alone.
final class TimedWait: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Ends the current sleep, or the next one where the thread is awake.
    func ring() {
        pthread_mutex_lock(mutex)
        isRung = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Sleeps for a time, or until the next ``ring()``; nil sets no limit.
    ///
    /// May return early: the caller checks the clock.
    func sleep(for time: Duration?) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if !isRung {
            if let time {
                var end = timespec()
                clock_gettime(CLOCK_MONOTONIC, &end)
                // A day at most, so that no sum overflows; the caller looks at the clock anyway.
                let nanoseconds =
                    end.tv_nsec + min(max(time, .zero), .seconds(86_400)).wholeNanoseconds
                end.tv_sec += nanoseconds / 1_000_000_000
                end.tv_nsec = nanoseconds % 1_000_000_000
                pthread_cond_timedwait(condition, mutex, &end)
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
        isRung = false
    }
}

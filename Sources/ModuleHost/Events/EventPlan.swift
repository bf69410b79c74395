/// The events of a request, in order.
enum EventPlan {
    /// Nearly always: no array is allocated for it.
    case one(LifecycleEvent)
    case several([LifecycleEvent])

    /// The event at an index; nil after the last one.
    subscript(index: Int) -> LifecycleEvent? {
        switch self {
        case .one(let event): index == 0 ? event : nil
        case .several(let events): index < events.count ? events[index] : nil
        }
    }
}

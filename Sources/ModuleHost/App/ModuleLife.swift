/// The life of an instance of a module, or of the place of one that is about to be made: the only value that says what is
/// true of it.
///
/// ```
/// waiting → making → made → running
///                    made → catchingUp → running      (made while the app runs)
///                    made → ready → running           (made for a reload)
/// any of these → failed → making
/// any of these but ready, and failed → done
/// any of these, failed and done → leaving → released
/// ```
///
/// ``apply(_:)`` is the only transition function: it changes the life and returns the effects that the app has to carry
/// out, but carries out none, so it can be tested as a table. That a module is busy beyond its deadline is not a part of
/// its life: the lane knows it.
enum ModuleLife: Hashable {
    /// Its turn has not come, or its process starts for the first time.
    case waiting
    /// Its `init` runs.
    case making
    /// It has yet to receive `launch`.
    case made
    /// It has launched, and takes effect with its reload.
    case ready
    /// It receives what it has missed.
    case catchingUp(MissedEvents)
    /// It receives events and calls.
    case running
    /// It receives nothing more. A place that was put there for another attempt is made from here.
    case failed(ModuleFailure)
    /// It is a program that has ended on purpose: nothing is for it, and nothing waits for it.
    case done
    /// It cannot be reached any more, and has yet to receive these shutdown events.
    case leaving([EventKind])
    case released

    /// A change that can be requested of a life.
    enum Change: Hashable {
        /// Its `init` is about to be called.
        case make
        case made
        /// It has received `launch` with the app, or does not handle it.
        case launched
        /// It has received `launch` for a reload, or does not handle it.
        case launchedForReload
        /// The reload that it was made for takes effect.
        case takeEffect
        /// It is made while the app runs, and is about to receive these.
        case launch(MissedEvents)
        /// It has received the first of the events that it has missed.
        case received
        /// It has nothing more to receive of what it has missed.
        case caughtUp
        /// It has failed; for one that has failed before, the reason is another one now.
        case fail(ModuleFailure)
        /// Its program has ended on purpose.
        case finish
        /// It is taken out of the app, which would send these shutdown events in a stop.
        case takeOut([EventKind])
        /// It is about to receive a shutdown event.
        case shutDown(EventKind)
        case release
    }

    /// An action that the app has to carry out after a change.
    enum Effect: Hashable {
        /// Let it receive nothing more.
        case end
        /// Let nothing wait for it.
        case forget
        /// Begin its long-running task, and what else follows its launch.
        case run
    }

    /// Moves to the life that follows a change.
    ///
    /// - Returns: The effects to carry out, in order. Empty where the change has no meaning in this life, which stays
    ///   unchanged.
    mutating func apply(_ change: Change) -> [Effect] {
        switch (self, change) {
        case (.waiting, .make), (.failed, .make): return move(to: .making)
        case (.making, .made): return move(to: .made)
        case (.made, .launched): return move(to: .running, [.run])
        case (.made, .launchedForReload): return move(to: .ready)
        case (.ready, .takeEffect): return move(to: .running, [.run])
        case (.made, .launch(let missed)): return move(to: .catchingUp(missed))
        case (.catchingUp(var missed), .received):
            if !missed.events.isEmpty { missed.events.removeFirst() }
            return move(to: .catchingUp(missed))
        case (.catchingUp, .caughtUp): return move(to: .running, [.run])

        case (.waiting, .fail(let failure)), (.making, .fail(let failure)),
            (.made, .fail(let failure)), (.ready, .fail(let failure)),
            (.catchingUp, .fail(let failure)), (.running, .fail(let failure)):
            return move(to: .failed(failure), [.end])
        case (.failed, .fail(let failure)): return move(to: .failed(failure))

        case (.waiting, .finish), (.making, .finish), (.made, .finish), (.catchingUp, .finish),
            (.running, .finish), (.failed, .finish):
            return move(to: .done, [.end, .forget])

        case (.catchingUp, .takeOut(let events)), (.running, .takeOut(let events)):
            return move(to: .leaving(events))
        // It knows nothing but its launch.
        case (.ready, .takeOut): return move(to: .leaving([.terminate]))
        case (.waiting, .takeOut), (.making, .takeOut), (.made, .takeOut), (.failed, .takeOut),
            (.done, .takeOut):
            return move(to: .leaving([]))
        case (.leaving(let events), .shutDown(let event)):
            return move(to: .leaving(Array(events.drop { $0 != event }.dropFirst())))
        case (.leaving, .release): return move(to: .released)

        // The change has happened already, or comes too late. Spelled out, with no `default`: a new life must be placed by
        // hand.
        case (.waiting, _), (.making, _), (.made, _), (.ready, _), (.catchingUp, _), (.running, _),
            (.failed, _), (.done, _), (.leaving, _), (.released, _):
            return []
        }
    }

    private mutating func move(to next: Self, _ effects: [Effect] = []) -> [Effect] {
        self = next
        return effects
    }
}

/// The events that a module which is made while the app runs has missed, and receives first.
struct MissedEvents: Hashable {
    /// Those that it has yet to receive, the current one first.
    var events: [EventKind]
    /// The changes of the app's state, ``App/stateChanges``, before these.
    let stateChanges: Int
}

/// The reason why a module receives nothing more.
struct ModuleFailure: Hashable {
    /// The reason, in words.
    let reason: String
    /// The failed module that it needs, for which it could not launch; nil where it failed itself.
    var need: ModuleID?
    /// Whether it is not to be tried again: its process was restarted often enough.
    var isFinal = false
}

/// The deadlines of the slatefile in effect, as `about` tells them.
extension Slatefile.Deadlines {
    /// Writes the deadlines as one object.
    func write(to json: inout JSONWriter) {
        func write(_ key: String, _ time: Duration, _ json: inout JSONWriter) {
            json.member(key, time.wholeNanoseconds / 1_000_000)
        }
        json.object {
            write("eventMs", event, &$0)
            write("callMs", call, &$0)
            write("launchMs", launch, &$0)
            write("stopMs", stop, &$0)
            write("stopAllMs", stopAll, &$0)
        }
    }

    /// Reads the deadlines of a host; those that it does not tell have the defaults of a slatefile.
    init(_ json: JSONValue?) {
        func read(_ key: String, into deadline: inout Duration) {
            if let time = json?[key]?.milliseconds { deadline = time }
        }
        read("eventMs", into: &event)
        read("callMs", into: &call)
        read("launchMs", into: &launch)
        read("stopMs", into: &stop)
        read("stopAllMs", into: &stopAll)
    }
}

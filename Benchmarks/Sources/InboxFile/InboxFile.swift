import ModuleHost

/// The inbox of a host that does not run, to which this process appends.
public struct InboxFile {
    private let writer: InboxWriter

    /// Creates the inbox where there is none.
    ///
    /// - Parameter state: The state directory of the host.
    /// - Throws: An error where it cannot be created.
    public init(_ state: String) throws {
        let folder = InboxFolder(in: StateDirectory(path: state))
        try folder.make()
        writer = try InboxWriter(folder)
    }

    /// Returns when an event is safe.
    ///
    /// - Parameter event: Its line.
    /// - Throws: An error where it cannot be written.
    public func append(_ event: [UInt8]) throws { _ = try writer.append([event]) }

    /// Appends pushes, a thousand at a time.
    ///
    /// - Parameter count: Their number, a multiple of 1000. Each has an id.
    /// - Throws: An error where they cannot be written.
    public func appendPushes(_ count: Int) throws {
        let payload = try JSONValue(parsing: Array(#"{"aps":{"badge":3}}"#.utf8))
        for batch in 0..<count / 1000 {
            _ = try writer.append(
                (0..<1000).map {
                    InboxRecord.line(.push, payload: payload, id: "order-\(batch * 1000 + $0)")
                })
        }
    }
}

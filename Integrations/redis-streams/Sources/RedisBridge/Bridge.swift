package import EventStreams
package import RedisStreams

/// A bridge between the inbox of a host and the streams of all hosts.
public struct Bridge: Sendable {
    /// A durable message of this host.
    public struct Message: Sendable {
        /// The position in the inbox, such as `3:4096`.
        public let position: String
        /// The id that its sender gave to it; nil, or the position, if there is none.
        public let id: String?
        /// The place that it comes from, if it came through a bridge or another engine.
        public let source: String?
        /// The topic.
        public let topic: String
        /// The payload, as JSON text.
        public let body: String

        /// Creates a message.
        public init(position: String, id: String?, source: String?, topic: String, body: String) {
            self.position = position
            self.id = id
            self.source = source
            self.topic = topic
            self.body = body
        }
    }

    private let own: OwnStream
    private let outbox: Outbox
    private let receiver: Receiver
    private let shared: SharedWork?
    private let topics: TopicFilter
    private let relay: Bool

    /// Creates a bridge; it connects when it is used.
    ///
    /// - Parameters:
    ///   - settings: The settings.
    ///   - hostID: The id of the host: 16 hexadecimal digits, made once a state directory.
    ///   - folder: The folder of `redis-stream.json` and `redis-cursor.json`, which only this bridge uses.
    ///   - host: The host.
    ///   - retry: The time between two attempts when Redis, or the inbox, does not accept events.
    /// - Throws: An error of these files.
    public init(
        _ settings: BridgeSettings, hostID: String, folder: String, host: any BridgeHost,
        retry: Duration = .seconds(2)
    ) throws {
        let redis = settings.redis
        try self.init(settings, hostID: hostID, folder: folder, host: host, retry: retry) {
            RedisStreams(redis, owner: $0)
        }
    }

    /// Creates a bridge on any engine.
    ///
    /// - Parameters:
    ///   - room: The bytes that can still be written to the disk of the inbox; that of `folder` without it.
    ///   - settingsOfGroup: The server of the group, if it is not that of the settings.
    package init(
        _ settings: BridgeSettings, hostID: String, folder: String, host: any BridgeHost,
        retry: Duration, room: (@Sendable () -> UInt64?)? = nil,
        settingsOfGroup: RedisSettings? = nil,
        makeEngine: @escaping @Sendable (StreamOwner) -> any StreamEngine
    ) throws {
        let cursors = Cursors(folder: folder)
        own = try OwnStream(
            hostID: hostID, folder: folder, cursors: cursors, makeEngine: makeEngine)
        outbox = Outbox(own, host, window: settings.window, retry: retry)
        shared = settings.group.map { [own] in
            SharedWork(
                own, host, settingsOfGroup ?? settings.redis, $0, topics: settings.share,
                window: settings.window, beginnings: cursors.positions, retry: retry)
        }
        receiver = Receiver(
            own, host, cursors, topics: settings.receive, shared: shared, beginning: settings.from,
            window: settings.window, retry: retry,
            room: room ?? { DiskRoom.bytes(at: folder) })
        (topics, relay) = (settings.topics, settings.relay)
    }

    /// Receives the events of other hosts until the task is cancelled.
    public func receive() async {
        async let sharing: Void? = shared?.run()
        await receiver.run()
        _ = await sharing
    }

    /// Returns the streams of all hosts, this one included, with the position of the last event of each.
    ///
    /// - Throws: ``StreamError``.
    package func hosts() async throws(StreamError) -> [StreamName: StreamPosition] {
        try await own.current.engine.hosts()
    }

    /// Publishes a message, if it shall go out; returns when it is on the disk of Redis.
    ///
    /// - Order: Messages are published in the order of these calls.
    /// - Throws: ``NotNow``; the message, and all later ones, must be given again after that time.
    public func publish(_ message: Message) async throws(NotNow) {
        guard topics.contains(message.topic), goesOut(message.source),
            let position = StreamPosition(message.position)
        else { return }
        // A position is unique in one host only: another host may have an event of its own there.
        let id = message.id == message.position ? nil : message.id
        try await outbox.publish(
            StreamEvent(
                position: position, id: id, topic: message.topic, body: message.body,
                group: shared?.topics.contains(message.topic) == true ? shared?.group.name : nil))
    }

    /// Returns whether a message from this place goes out; from a bridge it never does, since it would come back.
    private func goesOut(_ source: String?) -> Bool {
        guard let source else { return true }
        return relay && !source.hasPrefix("redis:")
    }
}

// The start-up queue of README.md, compiled and run.

import AppService

func startUp() async throws -> StartupReport {
    let queue = StartupQueue(width: 2, deadline: .seconds(15))
    try queue.register([
        StartupTask("settings", priority: .high, required: true) { try readSettings() },
        StartupTask("database", after: ["settings"]) { try openDatabase() },
        StartupTask("log in", after: ["settings"], deadline: .seconds(5)) { try await logIn() },
        StartupTask("thumbnails", priority: .low, after: ["database"]) { makeThumbnails() },
    ])
    return try await queue.run()
}

import ModuleHostCore
import TestSupport

/// Uploads photos when the app leaves sight, with a hold of its own, as docs/modules.md shows it.
final class UploadModule: BackgroundResponder {
    private let context: ModuleContext
    private let server = PhotoServer.shared
    private let photos = ["cat", "dog"]
    private var upload: PhotoServer.Upload?

    init(context: ModuleContext) { self.context = context }

    func didEnterBackground() throws {
        let hold = try context.hold("uploading") {
            self.upload?.cancel()  // on the lane: the time is over
        }
        upload = server.upload(photos) { hold.end() }  // on any thread
    }
}

/// A server whose uploads end when the test says so.
final class PhotoServer: Sendable {
    static let shared = PhotoServer()

    let uploads = LockedList<Upload>()

    /// One upload.
    final class Upload: Sendable {
        private let isDone: @Sendable () -> Void
        let isCancelled = Promise<Void>()

        init(_ isDone: @escaping @Sendable () -> Void) { self.isDone = isDone }

        func finish() { isDone() }
        func cancel() { isCancelled.keep(()) }
    }

    func upload(_ photos: [String], isDone: @escaping @Sendable () -> Void) -> Upload {
        let upload = Upload(isDone)
        uploads.append(upload)
        return upload
    }
}

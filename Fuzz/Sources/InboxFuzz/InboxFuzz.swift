import FuzzDriver

@testable import ModuleHostCore

@main
enum InboxFuzz {
    static func main() { runFuzzer(fuzz) }
}

/// Takes the input for a log, `|` between its segments, and reads it in one go, in the smallest
/// pieces, and record by record: all must find the same.
///
/// The first byte says how much is read at a time, the second how long a line may be. Lines are also read
/// as records: whatever is one has the id that the scan for ids finds.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard bytes.count > 2 else { return 0 }
    var limits = InboxLimits()
    limits.excerpt = 8
    limits.line = limits.excerpt + Int(bytes[1])
    do throws(InboxError) {
        let inbox = try log(of: bytes[2...], limits)
        let whole = try items(in: inbox, atMost: 1000)
        limits.reading = 2 + Int(bytes[0])
        let small = InboxFolder(in: state, limits: limits)
        guard try items(in: small, atMost: 1 + Int(bytes[0]) % 5) == whole else {
            fatalError("the size of the pieces makes a difference")
        }
        guard try records(in: small) == whole else { fatalError("single records differ") }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

/// What was found, to be compared.
private struct Item: Equatable {
    let position: EventPosition
    let end: EventPosition
    let bytes: [UInt8]
    let error: InboxRecordError?

    init(_ item: InboxItem) {
        position = item.position
        end = item.end
        bytes = Array(item.bytes)
        error = item.error
        check(item)
    }
}

/// In memory where there is such a file system: a disk would set the pace.
private let state = StateDirectory(
    path: "\(fileExists("/dev/shm") ? "/dev/shm" : "/tmp")/modulehost-fuzz-\(CurrentProcess.id)")

/// Makes a log with these segments, and no others.
private func log(
    of bytes: ArraySlice<UInt8>, _ limits: InboxLimits
) throws(InboxError) -> InboxFolder {
    let inbox = InboxFolder(in: state, limits: limits)
    let segments = bytes.split(
        separator: UInt8(ascii: "|"), maxSplits: 7, omittingEmptySubsequences: false)
    do throws(FileError) {
        try makeFolders(inbox.path)
        for (index, segment) in segments.enumerated() {
            try writeFile(segment, to: inbox.path(ofSegment: UInt32(index) + 1))
        }
        for number in segments.count..<8 {
            try removeFile(inbox.path(ofSegment: UInt32(number) + 1))
        }
    } catch {
        throw .unusable(error)
    }
    return inbox
}

private func items(
    in inbox: InboxFolder, atMost count: Int
) throws(InboxError) -> [Item] {
    let reader = try InboxReader(inbox)
    var found: [Item] = []
    while true {
        let items = try reader.next(atMost: count)
        if items.isEmpty { return found }
        found += items.map(Item.init)
    }
}

private func records(in inbox: InboxFolder) throws(InboxError) -> [Item] {
    let reader = try InboxReader(inbox)
    var found: [Item] = []
    var place = reader.position
    while let item = try reader.read(at: place) {
        guard item.position >= place, item.end > item.position else { fatalError("it goes back") }
        found.append(Item(item))
        place = item.end
    }
    return found
}

/// Traps unless the line says of itself what it must.
private func check(_ item: InboxItem) {
    if item.bytes.contains(UInt8(ascii: "\n")) { fatalError("two lines in one") }
    guard item.error == nil else { return }
    do throws(InboxRecordError) {
        let record = try InboxRecord(parsing: item.bytes)
        let id = IDScanner.id(in: item.bytes).map { String(decoding: $0, as: UTF8.self) }
        if id != record.id { fatalError("another id: \(id ?? "none")") }
        let again = try InboxRecord(parsing: record.lineForRetry()[...])
        guard again.payload == record.payload, again.id == record.id else {
            fatalError("it is not written as it was read")
        }
    } catch {
        if error.description.isEmpty { fatalError("a error without words") }
    }
}

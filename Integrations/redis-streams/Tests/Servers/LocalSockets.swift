import Glibc
import SwiftOverlayShims

/// Listens at a socket of this machine.
func listen(at path: String) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withAddress(path, { bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 16) == 0 else {
        throw ServerError(text: "cannot listen at \(path)")
    }
    return listener
}

/// Returns a TCP port that no program uses.
func freePort() throws -> UInt16 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
        }
    }
    guard isBound else { throw ServerError(text: "no free port") }
    return UInt16(bigEndian: address.sin_port)
}

/// Connects to a socket of this machine.
func connect(to path: String) throws -> Int32 {
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withAddress(path, { Glibc.connect(client, $0, $1) }) == 0 else {
        close(client)
        throw ServerError(text: "cannot connect to \(path)")
    }
    return client
}

private func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// Runs code that waits, on a thread of its own.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }, box)
    pthread_detach(thread)
}

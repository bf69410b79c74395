import Foundation
import Glibc
import Served

extension Trials {
    /// A route of each module, added in no order, then a URL of each, which does not name the module.
    func addRoutesInNoOrder(_ count: Int) throws -> (add: Int, open: Int) {
        let modules = (0..<count).map { number in
            #"{"id": "bench.m\#(number)", "entry": "Scale.SharedStartModule"\#(number == 0 ? #", "main": true"# : "")}"#
        }
        let host = try start(modules)
        _ = try host.waitUntilReady()
        let client = try Client(folder.appending(path: "state/control.sock").path)
        // A permutation: the step and the number of modules have no common divisor.
        let numbers = (0..<count).map { $0 * 7_919 % count }
        let add = try client.time(
            of: numbers.map {
                #""call","params":{"module":"bench.m\#($0)","action":"add"}"#
            })
        let open = try client.time(
            of: numbers.map { #""open","params":{"url":"bench://shared/item\#($0)/7"}"# })
        kill(host.id, SIGTERM)
        host.wait()
        return (add, open)
    }
}

extension Client {
    /// Makes calls, a hundred at a time.
    ///
    /// - Returns: How long all of them took, in nanoseconds.
    /// - Throws: Where one is not answered with a result.
    fileprivate func time(of calls: [String]) throws -> Int {
        let began = nanoseconds()
        for start in stride(from: 0, to: calls.count, by: 100) {
            let some = calls[start..<min(start + 100, calls.count)]
            let lines = some.map { #"{"jsonrpc":"2.0","id":1,"method":\#($0)}"# + "\n" }
            try send(Array(lines.joined().utf8))
            var answers: [UInt8] = []
            while answers.count(where: { $0 == UInt8(ascii: "\n") }) < some.count {
                answers += try read()
            }
            let text = String(decoding: answers, as: UTF8.self)
            guard text.split(separator: "\n").allSatisfy({ $0.contains("result") }) else {
                throw Failure("\(some.first ?? ""): \(text.prefix(200))")
            }
        }
        return nanoseconds() - began
    }
}

import Glibc
import SwiftOverlayShims

/// The standard streams and the end of a command.
enum Terminal {
    /// Prints a text and a newline.
    ///
    /// Control and format characters, which files and servers may have brought, are escaped; newlines are not.
    static func write(_ text: String, toError isError: Bool = false) {
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                shown += scalar == "\n" ? "\n" : "\\u{\(String(scalar.value, radix: 16))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        var rest = Array((shown + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(isError ? STDERR_FILENO : STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }

    static func exit(_ code: Int32) -> Never { Glibc.exit(code) }

    /// The permissions of a file; nil if there is none.
    static func permissions(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}

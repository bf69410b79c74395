import ModuleHostCore
import TestSupport

/// Modules that are shell scripts, and the processes that they leave.
enum ShellModule {
    /// A program that does what `cases` say, and answers everything else.
    static func program(_ id: String, _ events: String, _ cases: String) -> String {
        #"""
        #!/bin/sh
        while IFS= read -r line; do
            id=${line#*'"id":'} id=${id%%,*}
            result=null
            case $line in
            *'"initialize"'*) result='{"protocol":2,"module":"\#(id)","events":[\#(events)]}' ;;
            \#(cases)
            esac
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
        done

        """#
    }

    /// The beginning of a program that starts a process which leaves its group: the file `pids` has the numbers of both.
    static let startOfOther = #"""
        #!/bin/sh
        rm -f other begun
        mkfifo begun
        setsid sh -c 'echo $$ >other; echo >begun; exec sleep 300' <&- >&- 2>&- &
        read -r begun <begun
        rm begun
        echo "$$ $(cat other)" >pids

        """#

    /// Returns the numbers in a file of a host's folder.
    static func numbers(_ path: String, of run: HostdRun) throws -> [Int32] {
        try run.folder.text(of: path).split(whereSeparator: \.isWhitespace).compactMap {
            Int32($0)
        }
    }

    /// Returns the processes that run: one that has ended, and was not reaped, does not.
    static func running(_ processes: [Int32]) -> [Int32] {
        processes.filter { id in
            let status = (try? readFile(at: "/proc/\(id)/stat", limit: 4096)) ?? []
            // 4711 (name) S …
            return status.split(separator: UInt8(ascii: ")")).last?.dropFirst().first
                .map { $0 != UInt8(ascii: "Z") } ?? false
        }
    }
}

/// A module that is a script of the shell: it reads one request of the host after the other, and answers with `$result`.
enum ShellModule {
    /// Returns the command of such a module.
    ///
    /// - Parameters:
    ///   - id: Its id.
    ///   - members: More members of its declaration, each with a comma before it.
    ///   - start: What it does before the first request.
    ///   - cases: What it does with some requests, as cases of the line `$line`; they set `result`, which is null for others.
    ///   - end: What it does behind each answer.
    static func command(
        _ id: String, declaring members: String = "", start: String = "", cases: String = "",
        end: String = ""
    ) -> [String] {
        let script = """
            \(start)
            while IFS= read -r line; do
                id=${line#*'"id":'} id=${id%%,*}
                case $line in
                *'"method":"initialize"'*) result='{"protocol":2,"module":"\(id)"\(members)}' ;;
                \(cases)
                *) result=null ;;
                esac
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
                \(end)
            done
            """
        return ["/bin/sh", "-c", script]
    }
}

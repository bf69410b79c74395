extension Command {
    static let schema = Command(
        name: "schema", summary: "print the JSON Schema of slatefiles",
        discussion: """
            The schema is of draft 2020-12. Put it beside a slatefile and name it there as "$schema".
            """,
        examples: [
            Example(
                line: "schema > slatefile.schema.json",
                explanation: "put it where editors look")
        ],
        run: { _ in Console.write(json: Slatefile.jsonSchema.utf8) })
}

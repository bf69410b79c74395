import ModuleHost

let prices = HostCommand(name: "prices", summary: "print the price list") { words in
    print(words.isEmpty ? "all prices" : "the price of \(words[0])")
    return .success
}

import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Needs in a slatefile")
struct NeedsTests {
    private func text(_ modules: [String]) -> String {
        #"{"slate":1,"app":"a","modules":["# + "\n"
            + ([#"{"id":"x.main","entry":"T.M","main":true}"#] + modules).joined(separator: ",\n")
            + "]}"
    }

    private func module(_ name: String, needs: String...) -> String {
        let needs = needs.map { "\"x.\($0)\"" }.joined(separator: ",")
        return #"{"id":"x.\#(name)","entry":"T.M","needs":[\#(needs)]}"#
    }

    @Test("they are read with the spelling of the modules' own entries")
    func spelling() throws {
        let slatefile = try SlatefileTests.read(
            text([module("a"), module("b", needs: "A", "MAIN")]))
        #expect(slatefile.modules[2].needs.map(\.text) == ["x.a", "x.main"])
    }

    @Test("of a module that is not enabled they have to exist, and nothing more")
    func disabled() {
        let off = { (need: String) in
            #"{"id":"x.off","entry":"T.M","enabled":false,"needs":["x.\#(need)"]}"#
        }
        #expect(
            Slatefile.diagnostics(of: text([off("later"), module("later", needs: "main")])).isEmpty)
        #expect(
            Slatefile.diagnostics(of: text([off("mian")]))
                == ["line 3, column 54: no module 'x.mian'; did you mean 'x.main'?"])
    }

    @Test("the id of the module itself is not what it could mean")
    func ownID() {
        let diagnostics = Slatefile.diagnostics(of: text([module("cart", needs: "carts")]))
        #expect(diagnostics.count == 1)
        #expect(diagnostics.first?.contains("no module 'x.carts'") == true)
        #expect(diagnostics.first?.contains("did you mean") == false)
    }

    @Test("ten thousand modules with needs that are all wrong")
    func many() {
        let count = 10_000
        let later = (0..<count).map { module("m\($0)", needs: "m\(($0 + 1) % (count + 1))") }
        let diagnostics = Slatefile.diagnostics(of: text(later + [module("m\(count)")]))
        #expect(diagnostics.count == Slatefile.Limits.diagnostics)
        #expect(
            diagnostics.first?.hasSuffix(
                "module 'x.m1' stands later; move it before this one, which needs it. This order would do: "
                    + "x.m10000, x.m9999, x.m9998, x.m9997, x.m9996, x.m9995, …, x.m5, x.m4, x.m3, x.m2, "
                    + "x.m1, x.m0") == true)
        #expect(
            diagnostics.last?.hasSuffix(
                "module 'x.m1000' stands later; move it before this one, which needs it") == true)
        let unknown = (0..<count).map { module("m\($0)", needs: "mm\($0)") }
        let searched = Slatefile.diagnostics(of: text(unknown)).count {
            $0.contains("did you mean")
        }
        #expect(searched == 8)
    }

    @Test("1024 needs of one module are possible, and no more")
    func limit() {
        let needed = (0..<1025).map { module("m\($0)") }
        let all = (0..<1025).map { "m\($0)" }
        func list(_ count: Int) -> String {
            let needs = all.prefix(count).map { "\"x.\($0)\"" }.joined(separator: ",")
            return #"{"id":"x.all","entry":"T.M","needs":[\#(needs)]}"#
        }
        #expect(Slatefile.diagnostics(of: text(needed + [list(1024)])).isEmpty)
        #expect(
            Slatefile.diagnostics(of: text(needed + [list(1025)])).first?
                .hasSuffix(": more than 1024 needs") == true)
    }
}

"""Finds places in Swift sources at which one small change makes another program, and writes all such programs
as one: each place gets a switch, so that a hundred mutants take one build.

A comparison `a < b` becomes `a ⠁⠂ b`, an operator of the same precedence that is declared for this place alone: it
compares as before unless mutant 2 is the active one. So no expression has to be understood, only tokens. What does
not compile so (an operand that is not generic, a `return` that a `guard` needs) is left out by the caller.
"""

import re
from dataclasses import dataclass

STRING = re.compile(r'(#*)""".*?"""\1|(#+)".*?"\2|"(?:\\\((?:[^()"]|"[^"]*"|\([^()]*\))*\)|\\.|[^"\\\n])*"', re.S)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TOKENS = re.compile(STRING.pattern + "|" + COMMENT.pattern, re.S)

# What an infix operator becomes: its precedence, its operands' type, its result, and the change.
COMPARABLE = ("ComparisonPrecedence", "<T: Comparable>(l: T, r: T) -> Bool")
EQUATABLE = ("ComparisonPrecedence", "<T: Equatable>(l: T, r: T) -> Bool")
INTEGER = ("AdditionPrecedence", "<T: BinaryInteger>(l: T, r: T) -> T")
LOGICAL = "(l: Bool, r: @autoclosure () throws -> Bool) rethrows -> Bool"
INFIX = {
    "<": (*COMPARABLE, "l < r", "l <= r"),
    "<=": (*COMPARABLE, "l <= r", "l < r"),
    ">": (*COMPARABLE, "l > r", "l >= r"),
    ">=": (*COMPARABLE, "l >= r", "l > r"),
    "==": (*EQUATABLE, "l == r", "l != r"),
    "!=": (*EQUATABLE, "l != r", "l == r"),
    "&&": ("LogicalConjunctionPrecedence", LOGICAL, "try l && r()", "try l || r()"),
    "||": ("LogicalDisjunctionPrecedence", LOGICAL, "try l || r()", "try l && r()"),
    "+": (*INTEGER, "l + r", "l + r + 1"),
    "-": (*INTEGER, "l - r", "l - r - 1"),
    "..<": (
        "RangeFormationPrecedence",
        "<T: BinaryInteger>(l: T, r: T) -> Range<T>",
        "l..<r",
        "l..<(r + 1)",
    ),
    "+=": (
        "AssignmentPrecedence",
        "<T: BinaryInteger>(l: inout T, r: T)",
        "l += r",
        "l += r + 1",
    ),
    "-=": (
        "AssignmentPrecedence",
        "<T: BinaryInteger>(l: inout T, r: T)",
        "l -= r",
        "l -= r + 1",
    ),
}
OPERATOR = re.compile(
    r"(?<= )(?:" + "|".join(re.escape(o) for o in sorted(INFIX, key=len, reverse=True)) + r")(?= )"
    # A range has no spaces around it.
    r"|(?<=[\w)\]])\.\.<(?=[\w(])"
)
NEGATION = re.compile(r"(?<=[ (\[])!(?=[\w(])")
RETURN = re.compile(r"( *)return\b(.*)$")
CALL = re.compile(r" *(?:_ = )?(?:try[!?]? )?[A-Za-z_][\w.?!]*(?:\[\w+\][\w.?!]*)?\(.*\)$")
# Lines that a statement on the next line begins after.
BEGINS = re.compile(r"^$|[{};]$|[{] .* in$|^ *(?:case\b.*|default):$|^ *#")
NO_STATEMENT = re.compile(
    r" *(?:if|guard|while|for|switch|func|init|deinit|self\.init|super|let|var|case|return|throw|defer"
    r"|preconditionFailure|fatalError|precondition|assert|assertionFailure|exit|_exit|#)\b"
)


@dataclass(frozen=True)
class Point:
    """A place, and what it becomes there."""

    path: str
    line: int  # from 1
    column: int  # from 0
    length: int
    change: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.change}"


def masked(text):
    """The text, with everything in comments and string literals made blank, of the same length."""
    return TOKENS.sub(lambda match: re.sub(r"[^\n]", "\N{MIDDLE DOT}", match[0]), text)


def points(path, text):
    """All places of a file, in its order."""
    found = []
    before = ""
    for number, line in enumerate(masked(text).split("\n"), 1):
        bare = line.replace("\N{MIDDLE DOT}", " ").rstrip()
        begins = BEGINS.search(before) is not None
        if bare:
            found += _points_of(path, number, line, begins)
            before = bare
    return found


def _points_of(path, number, line, begins):
    if re.search(r"\bfunc\b|\boperator\b|^ *#|^ *@|\bwhere\b.*(?:==|:)", line) and not re.search(r"\bguard\b|\bif\b", line):
        return []
    found = [
        Point(path, number, match.start(), len(match[0]), f"{match[0]} as {_shown(match[0])}")
        for match in OPERATOR.finditer(line)
    ]
    found += [
        Point(path, number, match.start(), 1, "! left out") for match in NEGATION.finditer(line)
    ]
    bare = line.rstrip()
    value = RETURN.match(bare)
    if value and _balanced(bare):
        indent, rest = len(value[1]), value[2].strip()
        if rest in ("true", "false"):
            found.append(Point(path, number, indent, len(bare) - indent, f"return {rest} as its opposite"))
        else:
            found.append(Point(path, number, indent, len(bare) - indent, "return left out"))
    elif begins and CALL.match(bare) and not NO_STATEMENT.match(bare) and _balanced(bare):
        indent = len(bare) - len(bare.lstrip())
        found.append(Point(path, number, indent, len(bare) - indent, "call left out"))
    return found


SHOWN = {"+": "+ 1 +", "-": "- 1 -", "+=": "+= 1 +", "-=": "-= 1 +", "..<": "..."}


def _shown(operator):
    return SHOWN.get(operator) or next(
        other for other in INFIX if f" {other} " in INFIX[operator][3].replace("(", " ")
    )


def _balanced(line):
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))


def name(number):
    """The operator of one mutant."""
    return chr(0x2801 + number // 255) + chr(0x2801 + number % 255)


def rewritten(line, point, number):
    """A line of the source with the switch of a mutant in it, and what has to be declared for that."""
    old = line[point.column : point.column + point.length]
    head, tail = line[: point.column], line[point.column + point.length :]
    active = f"activeMutant == {number}"
    if old in INFIX:
        precedence, signature, same, other = INFIX[old]
        sign = f" {name(number)} " if old == "..<" and head[-1:] != " " else name(number)
        body = f"{{ if {active} {{ {other} }} else {{ {same} }} }}"
        if "inout" not in signature:
            body = body.replace("{ if", "{ return if")
        declared = f"infix operator {name(number)}: {precedence}\nfunc {name(number)} {signature} {body}\n"
        if old in ("==", "!="):
            # As the standard library has it, for what is compared with nil and with nothing else.
            nil = "<T>(l: T?, r: _OptionalNilComparisonType) -> Bool"
            declared += f"func {name(number)} {nil} {body}\n"
        return head + sign + tail, declared
    if old == "!":
        declared = (
            f"prefix operator {name(number)}\n"
            f"prefix func {name(number)} (value: Bool) -> Bool {{ {active} ? value : !value }}\n"
        )
        return head + name(number) + tail, declared
    if point.change.startswith("return true"):
        return head + f"return activeMutant != {number}" + tail, ""
    if point.change.startswith("return false"):
        return head + f"return activeMutant == {number}" + tail, ""
    return head + f"if activeMutant != {number} {{ {old} }}" + tail, ""

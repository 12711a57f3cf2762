"""Puts mechanical faults into C++ sources, each behind a number: `if (a < b)` becomes `if ((!MUTANT(1) && (MUTANT(2) ? a <= b : a < b)))`.

The text is looked at as text, so a fault that does not compile is taken out again. Kinds:
  never, always   the condition of an if
  drop            an operand of && or ||
  bound           < is <=, <= is <, and so on
  return          true is false, false is true
  one             `+ 1` and `- 1` are left out
  leave           a statement is left out
"""

import dataclasses
import os
import re
import subprocess

_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
_CONDITION = re.compile(r"\b(if|while) \(")
_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)")
# What guards a pointer or an optional: without it the next line crashes, which every test would notice.
_GUARD = re.compile(r"!?[\w.>\-*]+( [!=]= nullptr)?")
_COMPARISON = re.compile(r"([\w.]+(?:->\w+)?(?:\(\))?) (<=|>=|<|>) ([\w.]+(?:->\w+)?(?:\(\))?)(?=\)|;| &&| \|\|| \?)")
_BEFORE_COMPARISON = re.compile(r"(\(|&& |\|\| |return |\? |[^=!<>]= )$")
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_RETURN = re.compile(r"\breturn (true|false);")
_ONE = re.compile(r"(?<=[\w)\]]) ([+-]) 1(?=[;), ])")
_KEYWORDS = "return using case default break continue goto throw delete assert static_assert const auto else do if for while".split()
_STATEMENT = re.compile(
    r"(?<=[{};:]\n) +((?!(?:" + "|".join(_KEYWORDS) + r")\b)(?:\+\+|--|\*)?[a-zA-Z_][\w.:>\-\[\]]*"
    r"(?:\([^;{}]*\)|(?: [-+|&]?= [^;{}]*|\+\+|--)?);)(?=\n)"
)
_DECLARATION = re.compile(r"[\w:<>]+ \w+(\(| =)|[\w:.>\-\[\]]+;$")
_MOST_ATTEMPTS = 12


@dataclasses.dataclass
class Fault:
    """A part of a text that can be made wrong. `wrong` is what takes its place: @ is the number, {} the part itself."""

    first: int
    end: int
    kind: str
    wrong: str
    number: int = 0

    def overlaps(self, other):
        apart = self.end <= other.first or self.first >= other.end
        within = self.first >= other.first and self.end <= other.end
        around = other.first >= self.first and other.end <= self.end
        return not (apart or within or around)


def _blanked(text):
    """The text without what stands in comments and strings, at the same places."""
    return _COMMENT_OR_TEXT.sub(lambda found: re.sub(r"[^\n]", " " if found[0][0] == "/" else "_", found[0]), text)


def _end_of(code, first):
    """The place of the bracket that closes the one at `first`, or -1."""
    depth = 0
    for at in range(first, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def _parts(code, first, end, word):
    """[(first, end)] of the parts between the words outside of brackets."""
    parts, depth, begin, at = [], 0, first, first
    while at < end:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth == 0 and code.startswith(word, at):
            parts.append((begin, at))
            at = begin = at + len(word)
        else:
            at += 1
    return [*parts, (begin, end)]


def _of_conditions(code):
    for found in _CONDITION.finditer(code):
        bracket = found.end() - 1
        end = _end_of(code, bracket)
        first, end = _parts(code, bracket + 1, end, ";")[-1]
        first += len(code[first:end]) - len(code[first:end].lstrip())
        condition = code[first:end]
        if end < 0 or "?" in condition or _ASSIGNS.search(re.sub(r"\[[^\]]*\]|\{[^}]*\}", "", condition)):
            continue
        if found[1] == "if":
            yield Fault(first, end, "never", "(!MUTANT(@) && ({}))")
        any_of, all_of = _parts(code, first, end, "||"), _parts(code, first, end, "&&")
        if len(any_of) > 1:
            yield from (Fault(*part, "drop", " (!MUTANT(@) && ({})) ") for part in any_of)
        elif len(all_of) > 1:
            yield from (Fault(*part, "drop", " (MUTANT(@) || ({})) ") for part in all_of)
        elif found[1] == "if" and not _GUARD.fullmatch(condition.strip()):
            yield Fault(first, end, "always", "(MUTANT(@) || ({}))")


def faults_of(text):
    """The faults that the text can have. Of two, one is within the other, or they are apart."""
    code = _blanked(text)
    found = list(_of_conditions(code))
    for at in _COMPARISON.finditer(code):
        if _BEFORE_COMPARISON.search(code[: at.start()]):
            found.append(Fault(at.start(), at.end(), "bound", f"(MUTANT(@) ? {at[1]} {_OTHER[at[2]]} {at[3]} : {{}})"))
    found += [Fault(at.start(1), at.end(1), "return", "(MUTANT(@) != {})") for at in _RETURN.finditer(code)]
    found += [Fault(at.start(1), at.end(), "one", f"{at[1]} (MUTANT(@) ? 0 : 1)") for at in _ONE.finditer(code)]
    for at in _STATEMENT.finditer(code):
        if not _DECLARATION.match(at[1]):
            found.append(Fault(at.start(1), at.end(1), "leave", "if (!MUTANT(@)) {}"))
    kept = []
    for fault in sorted(found, key=lambda fault: (fault.first, -fault.end)):
        whole = (other for other in kept if other.kind in ("bound", "return", "one"))
        if not any(fault.overlaps(other) for other in kept) and not any(other.first <= fault.first < other.end for other in whole):
            kept.append(fault)
    return kept


def applied(text, faults):
    """The text in which each fault waits for its number."""

    def build(first, end, inner):
        made, at = [], first
        while inner:
            outer, *inner = inner
            below = [fault for fault in inner if fault.first < outer.end]
            inner = inner[len(below) :]
            made += [text[at : outer.first], outer.wrong.replace("@", str(outer.number)).replace("{}", build(outer.first, outer.end, below))]
            at = outer.end
        return "".join([*made, text[at:end]])

    return build(0, len(text), faults)


def inject(path, compiler, first):
    """Changes the file, whose faults get the numbers from `first` on. `compiler`: the command that parses a file. Returns [(fault, its text,
    its line)] of those that compile."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    faults = faults_of(text)
    for number, fault in enumerate(faults, first):
        fault.number = number
    head = text.find("#include")
    for _ in range(_MOST_ATTEMPTS):
        if not faults or head < 0:
            break
        changed = text[:head] + '#include "base/mutants.h"\n' + text[head:]
        shift = len(changed) - len(text)
        moved = [dataclasses.replace(fault, first=fault.first + shift, end=fault.end + shift) for fault in faults]
        changed = applied(changed, moved)
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
        done = subprocess.run([*compiler, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return [(fault, text[fault.first : fault.end], text.count("\n", 0, fault.first) + 1) for fault in faults]
        lines = changed.split("\n")
        said = re.findall(re.escape(os.path.basename(path)) + r":(\d+):\d+: (?:error|note: in expansion of macro)", done.stdout)
        bad = {int(number) for line in said for number in re.findall(r"MUTANT\((\d+)\)", lines[int(line) - 1])}
        if not bad:
            break
        faults = [fault for fault in faults if fault.number not in bad]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return []

"""Every command of docs/commands.md, which is made from the table of commands, has a test in tests/commands that sends it.

A test sends a command when one of its strings is the name, or begins with the name and a space; a subcommand may be the string
after it.
"""

import re

from source import blank

LIST = "docs/commands.md"
# One or two words of capitals: what follows are arguments.
_ROW = re.compile(r"^\| `([A-Z][A-Z0-9_.-]*(?: [A-Z][A-Z0-9_-]*)?)[ `]", re.M)
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def sent(text):
    """The command lines, in capitals, that a test file's strings begin."""
    code = blank(text, strings=False)
    strings = [(m.start(), m.end(), m.group(1).upper()) for m in _STRING.finditer(code)]
    lines = set()
    for index, (_, end, word) in enumerate(strings):
        words = word.split()
        lines.add(" ".join(words[:1]))
        lines.add(" ".join(words[:2]))
        if len(words) == 1 and index + 1 < len(strings):
            start, _, following = strings[index + 1]
            if code[end:start].strip() == ",":
                lines.add(f"{word} {following}")
    return lines


def find(files):
    tests = set()
    for path, text in files.items():
        if path.startswith("tests/commands/") and path.endswith(".cc"):
            tests |= sent(text)
    names = _ROW.findall(files.get(LIST, ""))
    if not names:
        return [f"{LIST}: no command was recognised"]
    return [f"{LIST}: no test in tests/commands sends {name}" for name in names if name not in tests]


def selftest():
    rows = "| `GET key` | 1.0.0 | Text. |\n| `SET key value [NX]` | 1.0.0 | |\n| `CLIENT ID` | 5.0.0 | |\n| not `ECHO` | | |\n"
    assert _ROW.findall(rows) == ["GET", "SET", "CLIENT ID"], _ROW.findall(rows)
    tests = 'CHECK(Run({"GET", "k"}));\nCHECK(Run("set k v"));\nCHECK(Run({"CLIENT", "ID"}));\n'
    files = {LIST: rows, "tests/commands/string_test.cc": tests}
    assert find(files) == [], find(files)
    for gone in ('"GET"', '"set k v"', '"ID"'):
        files["tests/commands/string_test.cc"] = tests.replace(gone, '"x"')
        assert len(find(files)) == 1, gone
    files["tests/commands/string_test.cc"] = tests.replace("CHECK(Run({", "// CHECK(Run({", 1)
    assert len(find(files)) == 1
    assert find({})

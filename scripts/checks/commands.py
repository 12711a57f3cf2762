"""Every command of src/commands has a test in tests/commands that sends it.

A command is a row {.name = "GET", ...} or {"GET", 2, ...} (a subcommand "CLIENT|ID") of an array whose type's name
holds "Command" or "Row". A test sends it when a string of the test is the name, or begins with the name and a space.
"""

import re

from source import blank, line_of

_TABLE = re.compile(r"\b\w*(?:Command|Row)\w*\s+\w+\s*\[\s*\w*\s*\]\s*=?\s*\{")
_ROW = re.compile(r'\{\s*(?:\.name\s*=\s*)?"([A-Za-z][A-Za-z0-9_.|\- ]*)"\s*,')
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def rows(text):
    """(name, line) of every command row of a source file."""
    code = blank(text, strings=False)
    bare = blank(text)
    found = []
    for table in _TABLE.finditer(bare):
        depth, i = 1, table.end()
        while i < len(bare) and depth:
            if bare[i] == "{":
                row = _ROW.match(code, i)
                if row and depth == 1:
                    found.append((row.group(1).upper(), line_of(text, i)))
            depth += (bare[i] == "{") - (bare[i] == "}")
            i += 1
    return found


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
    wrong, seen = [], {}
    sources = [p for p in files if p.startswith("src/commands/") and p.endswith(".cc")]
    for path in sources:
        for name, line in rows(files[path]):
            if name in seen:
                wrong.append(f"{path}:{line}: {name} is also in {seen[name]}")
            seen[name] = path
            if name.replace("|", " ") not in tests:
                wrong.append(f"{path}:{line}: no test in tests/commands sends {name.replace('|', ' ')}")
    if sources and not seen:
        wrong.append("src/commands: no command row was recognised; scripts/checks/commands.py knows the row's form")
    return wrong


def selftest():
    table = (
        'static constexpr CommandRow kRows[] = {\n    // {"OLD", 1},\n'
        '    {.name = "GET", .arity = 2, .keys = {"KEY", 1}},\n    {"SET", -3},\n    {"client|id", 2},\n};\n'
    )
    assert [n for n, _ in rows(table)] == ["GET", "SET", "CLIENT|ID"], rows(table)
    assert [n for n, _ in rows('const Command group[2]{{"A", 1}, {"B", 2}};\n')] == ["A", "B"]
    assert rows('const Option kOptions[] = {{"PX", 1}};\n') == []
    tests = 'CHECK(Run({"GET", "k"}));\nCHECK(Run("set k v"));\nCHECK(Run({"CLIENT", "ID"}));\n'
    files = {"src/commands/string.cc": table, "tests/commands/string_test.cc": tests}
    assert find(files) == [], find(files)
    for gone in ('"GET"', '"set k v"', '"ID"'):
        files["tests/commands/string_test.cc"] = tests.replace(gone, '"x"')
        assert len(find(files)) == 1, gone
    files["tests/commands/string_test.cc"] = tests.replace("CHECK(Run({", "// CHECK(Run({", 1)
    assert len(find(files)) == 1
    assert find({"src/commands/string.cc": "void Get() {}\n"})
    assert len(find({"src/commands/a.cc": table, "src/commands/b.cc": table, "tests/commands/a.cc": tests})) == 3

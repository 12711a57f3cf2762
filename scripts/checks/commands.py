"""Every command of src/commands has a test in tests/commands that sends it.

A command is a row {.name = "get", ...} or {"get", 2, ...} of an array whose type's name holds "Command" or "Row"; the
rows of an array that another row names as its .subcommands are sent behind that row's name. A test sends a command when
one of its strings is the name, or begins with the name and a space; a subcommand may be the string after it.
"""

import re

from source import blank, line_of

_TABLE = re.compile(r"\b\w*(?:Command|Row)\w*\s+(\w+)\s*\[\s*\w*\s*\]\s*=?\s*\{")
_ROW = re.compile(r'\{\s*(?:\.name\s*=\s*)?"([A-Za-z][A-Za-z0-9_.|\- ]*)"\s*[,}]')
_SUBCOMMANDS = re.compile(r"\.subcommands\s*=\s*(\w+)")
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def tables(text):
    """{array: [(name, line, array of its subcommands or None)]} of a source file."""
    code = blank(text, strings=False)
    bare = blank(text)
    found = {}
    for table in _TABLE.finditer(bare):
        rows = found.setdefault(table.group(1), [])
        depth, i, start = 1, table.end(), 0
        while i < len(bare) and depth:
            if bare[i] == "{" and depth == 1:
                start = i
            depth += (bare[i] == "{") - (bare[i] == "}")
            if bare[i] == "}" and depth == 1:
                row = _ROW.match(code, start)
                if row:
                    below = _SUBCOMMANDS.search(bare, start, i)
                    rows.append((row.group(1).upper(), line_of(text, start), below.group(1) if below else None))
            i += 1
    return found


def rows(text):
    """(what a client sends, line) of every command of a source file."""
    arrays = tables(text)
    nested = {below for members in arrays.values() for _, _, below in members if below}
    found = []
    for array, members in arrays.items():
        if array in nested:
            continue
        for name, line, below in members:
            found.append((name.replace("|", " "), line))
            found += [(f"{name} {word}", at) for word, at, _ in arrays.get(below, [])]
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
            if name not in tests:
                wrong.append(f"{path}:{line}: no test in tests/commands sends {name}")
    if sources and not seen:
        wrong.append("src/commands: no command row was recognised; scripts/checks/commands.py knows the row's form")
    return wrong


def selftest():
    table = (
        'static constexpr CommandRow kRows[] = {\n    // {"OLD", 1},\n'
        '    {.name = "GET", .arity = 2, .keys = {"KEY", 1}},\n    {"SET", -3},\n    {"client|id", 2},\n};\n'
    )
    assert [n for n, _ in rows(table)] == ["GET", "SET", "CLIENT ID"], rows(table)
    nested = (
        'static constexpr Command kClientRows[] = {{.name = "id", .arity = 2}, {.name = "setname"}};\n'
        'static constexpr Command kRows[] = {{.name = "client", .subcommands = kClientRows}, {.name = "echo"}};\n'
    )
    assert [n for n, _ in rows(nested)] == ["CLIENT", "CLIENT ID", "CLIENT SETNAME", "ECHO"], rows(nested)
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

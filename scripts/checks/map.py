"""src/README.md lists every source file under its floor, with the first sentence of the file's first comment, and draws the
floors as scripts/checks/layers.py has them."""

import os
import re

import layers

MAP = "src/README.md"
_FILE = re.compile(r"src/(\w+)/((?:\w+/)?\w+)\.(cc|h)$")  # a floor may have rooms
_COMMENT = re.compile(r"(?:// \S.*\n)+")
_SENTENCE = re.compile(r"(.*?)(?<!\.)\.(?: |$)")
_FLOOR = re.compile(r"^### (\w+)\n(?:(?!^#).*\n)*", re.M)
_TABLE = re.compile(r"^\| file \| what it is \|\n(?:\|.*\n)*", re.M)
_ROW = re.compile(r"^\| `([\w/]+)` \|", re.M)
_PATH = re.compile(r"`((?:(?:\w+|\.)/)+[\w.]+)`")
_DRAWING = re.compile(r"(?<=^## Floors\n\n)(?:    .*\n)+", re.M)
_TOP = ("src", "tests", "scripts", "conf", "docs")


def first_sentence(text):
    """The first sentence of the comment at the head of a source, without its full stop; None if there is none."""
    comment = _COMMENT.match(text)
    found = comment and _SENTENCE.match(" ".join(line[3:].strip() for line in comment.group().splitlines()))
    return found and found.group(1)


def _present(files):
    """{floor: {name: first sentence}}; the names of a room follow those of the floor itself."""
    paths = {}
    for path in sorted(files):  # a header comes after its .cc and replaces it
        match = _FILE.match(path)
        if match:
            paths.setdefault(match.group(1), {})[match.group(2)] = path
    present = {}
    for floor, names in paths.items():
        order = sorted(names, key=lambda name: (os.path.dirname(name), name))
        present[floor] = {name: first_sentence(files[names[name]]) for name in order}
    return present


def with_tables(files):
    """The map with the drawing and the table of each floor made anew."""
    present = _present(files)

    def floor(section):
        rows = [f"| `{name}` | {text} |\n" for name, text in present.get(section.group(1), {}).items()]
        table = "| file | what it is |\n|---|---|\n" + "".join(rows)
        return _TABLE.sub(lambda _: table, section.group())

    return _DRAWING.sub(lambda _: layers.drawing(), _FLOOR.sub(floor, files[MAP]))


def _listed(text):
    """{floor: names in the first column of its table}"""
    return {floor.group(1): set(_ROW.findall(floor.group())) for floor in _FLOOR.finditer(text)}


def _missing_paths(files, text):
    """Paths in backticks, outside the tables, that name no file; without a top folder they are below src/."""
    folders = {os.path.dirname(path) for path in files}
    for name in _PATH.findall(_ROW.sub("", text)):
        path = name if name.split("/")[0] in _TOP else "src/" + name
        if path not in files and path not in folders and not name.startswith("build/"):
            yield name


def find(files):
    if MAP not in files:
        return [f"{MAP}: missing"]
    text = files[MAP]
    listed, present = _listed(text), _present(files)
    wrong = []
    for floor in sorted(listed.keys() | present.keys()):
        here, there = listed.get(floor, set()), present.get(floor, {})
        wrong += [f"{MAP}: no row for src/{floor}/{name}" for name in sorted(there.keys() - here)]
        wrong += [f"{MAP}: there is no src/{floor}/{name}" for name in sorted(here - there.keys())]
        wrong += [f"src/{floor}/{name}: no first sentence for {MAP}" for name, first in there.items() if not first]
    if not wrong and with_tables(files) != text:
        wrong = [f"{MAP}: old; scripts/source_map makes the tables anew"]
    return wrong + [f"{MAP}: there is no {name}" for name in _missing_paths(files, text)]


def selftest():
    assert first_sentence("// Time, as a ... of\n// 1.5 s. More.\n#pragma once\n") == "Time, as a ... of 1.5 s"
    assert not first_sentence("// The rules:\n//\n// First. Second.\n")
    assert not first_sentence("#pragma once\n// Late.\n")
    rows = "| `tsc` | Cycles |\n| `room/clock` | Time |\n"
    table = f"| file | what it is |\n|---|---|\n{rows}"
    text = f"see `base/room/clock.h`\n### base\nBy hand.\n\n{table}\n## Tests\n| `not` | a row |\n"
    clock = {"src/base/room/clock.h": "// Time.\n", "src/base/room/clock.cc": ""}
    files = {MAP: text, "src/base/tsc.cc": "// Cycles.\n", "src/main.cc": ""} | clock
    assert find(files) == [], find(files)
    assert with_tables(files | {MAP: text.replace(rows, "")}) == text
    assert find(files | {"src/base/log.h": "// Lines.\n"}) == [f"{MAP}: no row for src/base/log"]
    assert find(files | {"src/cache/entry.h": "// A key.\n"}) == [f"{MAP}: no row for src/cache/entry"]
    assert find(files | {"src/base/tsc.cc": ""}) == [f"src/base/tsc: no first sentence for {MAP}"]
    old = [f"{MAP}: old; scripts/source_map makes the tables anew"]
    assert find(files | {"src/base/tsc.cc": "// Ticks.\n"}) == old
    assert find(files | {MAP: text.replace(rows, "".join(reversed(rows.splitlines(True))))}) == old
    gone = {path: text for path, text in files.items() if path != "src/base/tsc.cc"}
    assert find(gone) == [f"{MAP}: there is no src/base/tsc"]
    assert find(files | {MAP: text + "`tests/absent.cc`\n"}) == [f"{MAP}: there is no tests/absent.cc"]
    drawn = "## Floors\n\n    old\n\nNot this:\n\n    new\n"
    assert with_tables({MAP: drawn}) == drawn.replace("    old\n", layers.drawing())
    assert find({})

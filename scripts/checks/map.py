"""src/README.md has a row for every room and draws the floors as scripts/checks/layers.py has them; every source file begins with a
sentence that says what it is."""

import os
import re

import layers

MAP = "src/README.md"
_FILE = re.compile(r"src/((?:\w+/)+)(\w+)\.(cc|h)$")
_COMMENT = re.compile(r"(?:// \S.*\n)+")
_SENTENCE = re.compile(r"(.*?)(?<!\.)\.(?: |$)")
_TABLE = re.compile(r"^\| room \| what it has \|\n(?:\|.*\n)*", re.M)
_ROW = re.compile(r"^\| `([\w/]+)` \|", re.M)
_PATH = re.compile(r"`((?:(?:\w+|\.)/)+[\w.]+)`")
_DRAWING = re.compile(r"(?<=^## Floors\n\n)(?:    .*\n)+", re.M)
_TOP = ("src", "tests", "scripts", "conf", "docs")


def first_sentence(text):
    """The first sentence of the comment at the head of a source, without its full stop; None if there is none."""
    comment = _COMMENT.match(text)
    found = comment and _SENTENCE.match(" ".join(line[3:].strip() for line in comment.group().splitlines()))
    return found and found.group(1)


def _sentences(files):
    """{path: first sentence}: of the header, or of the .cc that has none, in the order of floors, rooms and names."""
    paths = {}
    for path in sorted(files):  # a header comes after its .cc and replaces it
        match = _FILE.match(path)
        if match:
            paths[match.group(1), match.group(2)] = path
    return {path: first_sentence(files[path]) for _, path in sorted(paths.items())}


def matching(files, words):
    """[(path, first sentence)] of the sources whose path or sentence has all words."""
    listed = [(path, sentence or "") for path, sentence in _sentences(files).items()]
    return [line for line in listed if all(word.lower() in " ".join(line).lower() for word in words)]


def with_drawing(text):
    """The map with the drawing of the floors made anew."""
    return _DRAWING.sub(lambda _: layers.drawing(), text)


def _rooms(files):
    """The folders of sources below the floors: "cache/time"."""
    folders = {os.path.dirname(path)[len("src/") :] for path in files if path.startswith("src/")}
    return {folder for folder in folders if "/" in folder}


def _missing_paths(files, text):
    """Paths in backticks that name no file or folder; without a top folder they are below src/."""
    folders = {os.path.dirname(path) for path in files}
    for name in _PATH.findall(_TABLE.sub("", text)):
        path = name if name.split("/")[0] in _TOP else "src/" + name
        if path not in files and path not in folders and not name.startswith("build/"):
            yield name


def find(files):
    if MAP not in files:
        return [f"{MAP}: missing"]
    text = files[MAP]
    table = _TABLE.search(text)
    listed, present = set(_ROW.findall(table.group() if table else "")), _rooms(files)
    wrong = [f"{MAP}: no row for the room {room}" for room in sorted(present - listed)]
    wrong += [f"{MAP}: there is no room {room}" for room in sorted(listed - present)]
    wrong += [f"{path}: no first sentence that says what the file is" for path, sentence in _sentences(files).items() if not sentence]
    if with_drawing(text) != text:
        wrong.append(f"{MAP}: the drawing of the floors is old; scripts/source_map --draw makes it anew")
    return wrong + [f"{MAP}: there is no {name}" for name in _missing_paths(files, text)]


def selftest():
    assert first_sentence("// Time, as a ... of\n// 1.5 s. More.\n#pragma once\n") == "Time, as a ... of 1.5 s"
    assert not first_sentence("// The rules:\n//\n// First. Second.\n")
    assert not first_sentence("#pragma once\n// Late.\n")
    row = "| `base/room` | clocks |\n"
    text = f"see `base/room/clock.h`\n\n| room | what it has |\n|---|---|\n{row}\n| `absent` | no row |\n"
    clock = {"src/base/room/clock.h": "// Time.\n", "src/base/room/clock.cc": ""}
    files = {MAP: text, "src/base/tsc.cc": "// Cycles of a processor.\n", "src/main.cc": ""} | clock
    assert find(files) == [], find(files)
    assert find(files | {MAP: text.replace(row, "")}) == [f"{MAP}: no row for the room base/room"]
    assert find(files | {MAP: text.replace(row, row + "| `base/attic` | dust |\n")}) == [f"{MAP}: there is no room base/attic"]
    assert find(files | {"src/base/room/deep/log.h": "// Lines.\n"}) == [f"{MAP}: no row for the room base/room/deep"]
    assert find(files | {"src/base/tsc.cc": ""}) == ["src/base/tsc.cc: no first sentence that says what the file is"]
    assert find(files | {MAP: text + "`tests/absent.cc`\n"}) == [f"{MAP}: there is no tests/absent.cc"]
    assert sorted(matching(files, [])) == [("src/base/room/clock.h", "Time"), ("src/base/tsc.cc", "Cycles of a processor")]
    assert matching(files, ["cycles", "BASE"]) == [("src/base/tsc.cc", "Cycles of a processor")]
    assert matching(files, ["cycles", "room"]) == []
    drawn = "## Floors\n\n    old\n\nNot this:\n\n    new\n"
    assert with_drawing(drawn) == drawn.replace("    old\n", layers.drawing())
    assert find(files | {MAP: text + drawn})
    assert find({})

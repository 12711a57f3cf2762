"""src/README.md lists every source file under its floor, and no file that does not exist."""

import os
import re

MAP = "src/README.md"
_FLOOR = re.compile(r"^### (\w+)$")
_ROW = re.compile(r"^\| (`[^|]*`) \|")
_PATH = re.compile(r"`((?:(?:\w+|\.)/)+[\w.]+)`")
_TOP = ("src", "tests", "scripts", "conf", "docs")


def _listed(text):
    """{floor: names in the first column of its table}"""
    found, floor = {}, None
    for line in text.splitlines():
        if line.startswith("#"):
            heading = _FLOOR.match(line)
            floor = heading and heading.group(1)
        row = _ROW.match(line)
        if floor and row:
            found.setdefault(floor, set()).update(re.findall(r"`(\w+)`", row.group(1)))
    return found


def _present(files):
    """{floor: names of its files without their endings}"""
    found = {}
    for path in files:
        match = re.match(r"src/(\w+)/(?:\w+/)?(\w+)\.(?:cc|h)$", path)  # a floor may have rooms
        if match:
            found.setdefault(match.group(1), set()).add(match.group(2))
    return found


def _missing_paths(files, text):
    """Paths in backticks that name no file; those without a top folder are below src/."""
    folders = {os.path.dirname(path) for path in files}
    for name in _PATH.findall(text):
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
        here, there = listed.get(floor, set()), present.get(floor, set())
        wrong += [f"{MAP}: no row for src/{floor}/{name}" for name in sorted(there - here)]
        wrong += [f"{MAP}: there is no src/{floor}/{name}" for name in sorted(here - there)]
    return wrong + [f"{MAP}: there is no {name}" for name in _missing_paths(files, text)]


def selftest():
    text = "see `base/clock.h`\n### base\n| file | what |\n|---|---|\n| `clock`, `tsc` | time, not a `date` |\n"
    files = {MAP: text, "src/base/clock.h": "", "src/base/clock.cc": "", "src/base/tsc.h": "", "src/main.cc": ""}
    assert find(files) == [], find(files)
    assert find(files | {"src/base/log.h": ""}) == [f"{MAP}: no row for src/base/log"]
    assert find(files | {"src/cache/entry.h": ""}) == [f"{MAP}: no row for src/cache/entry"]
    gone = {path: text for path, text in files.items() if path != "src/base/tsc.h"}
    assert find(gone) == [f"{MAP}: there is no src/base/tsc"]
    assert find(files | {MAP: text + "`tests/absent.cc`\n"}) == [f"{MAP}: there is no tests/absent.cc"]
    assert find({})

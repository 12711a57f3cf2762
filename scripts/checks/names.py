"""No file is called utils, common or misc, and no work is left as a note in the code."""

import re

from source import is_code, line_of

FORBIDDEN = {"util", "utils", "utility", "utilities", "common", "misc", "helper", "helpers", "stuff"}
# Spelled in halves, so that this file passes its own check.
_NOTES = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")


def find(files):
    wrong = []
    for path, text in files.items():
        words = set(re.split(r"[/_.\-]", path.lower()))
        if words & FORBIDDEN:
            wrong.append(f"{path}: {', '.join(sorted(words & FORBIDDEN))} says nothing about what is inside")
        if is_code(path) or path.split("/")[0] in ("scripts", ".ci"):
            for match in _NOTES.finditer(text):
                wrong.append(f"{path}:{line_of(text, match.start())}: {match.group(0)}: do it or leave it out")
    return wrong


def selftest():
    assert find({"src/base/time/clock.h": "// a mutable thing, XXH3\n"}) == []
    for path in ("src/base/utils.h", "src/common/a.h", "tests/support/test_util.cc", "scripts/misc.py"):
        assert find({path: ""}), path
    assert find({"src/base/a.h": "int x;  // TO" + "DO later\n"})

"""How many of our headers stand behind a source: a change of one header compiles all sources that it stands behind.

scripts/check headers says nothing while the net is as wide as it is now or narrower.
"""

import re
import statistics

# Of the median source, and of the one with the most. To be lowered with each change that narrows the net.
MOST_BEHIND_MEDIAN = 24
MOST = 215
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)


def behind(files):
    """{source: number of headers of src that it includes, directly or not}"""
    direct = {
        path.removeprefix("src/"): _INCLUDE.findall(text)
        for path, text in files.items()
        if path.startswith("src/") and path.endswith((".h", ".cc"))
    }

    def reach(path):
        seen, waiting = set(), [path]
        while waiting:
            fresh = [name for name in direct[waiting.pop()] if name in direct and name not in seen]
            seen.update(fresh)
            waiting += fresh
        return len(seen)

    return {path: reach(path) for path in direct if path.endswith(".cc")}


def figure(files):
    counts = sorted(behind(files).values())
    return f"headers behind a source of src: {statistics.median_low(counts)} in the median, {counts[-1]} at most"


def find(files):
    counts = behind(files)
    if not counts:
        return []
    wrong = [f"src/{path}: {count} headers stand behind it; at most {MOST}" for path, count in counts.items() if count > MOST]
    median = statistics.median_low(counts.values())
    if median > MOST_BEHIND_MEDIAN:
        wrong.append(f"src: {median} headers stand behind the median source; at most {MOST_BEHIND_MEDIAN}")
    return wrong


def selftest():
    files = {"src/a/b.cc": '#include "a/b.h"\n', "src/a/b.h": '#include "a/c.h"\n', "src/a/c.h": '#include "a/b.h"\n#include <map>\n'}
    assert behind(files) == {"a/b.cc": 2}, behind(files)
    assert find(files) == []
    assert "2 in the median, 2 at most" in figure(files)
    many = {f"src/a/h{i}.h": "" for i in range(MOST + 1)} | {"src/a/x.cc": "".join(f'#include "a/h{i}.h"\n' for i in range(MOST + 1))}
    assert len(find(many)) == 2

"""No test sleeps, and no file names a path of one machine.

The one pause of a bounded poll for something that a process does says so: `// polls: what for`.
"""

import re

from source import blank, is_code, line_of

_SLEEP = re.compile(r"\b(?:sleep|usleep|nanosleep|clock_nanosleep|sleep_for|sleep_until|uv_sleep)\s*\(")
_PATH = re.compile(r"(?<![\w./$}~-])/(?:home|root|work|Users|mnt|media)/[\w.]")


def find(files):
    wrong = []
    for path, text in files.items():
        if path.startswith("tests/") and is_code(path):
            lines = text.splitlines()
            for match in _SLEEP.finditer(blank(text)):
                if "// polls: " in lines[line_of(text, match.start()) - 1]:
                    continue
                wrong.append(f"{path}:{line_of(text, match.start())}: a test waits for an event or steps the clock")
        for match in _PATH.finditer(text):
            line = text[match.start() :].split()[0]
            wrong.append(f"{path}:{line_of(text, match.start())}: {line} exists on one machine only")
    return wrong


def selftest():
    good = "// a sleep (short)\nRun({\"DEBUG\", \"SLEEP (1)\"});\nopen(\"/tmp/x\"); a/home/b; asleep(1);\n"
    assert find({"tests/unit/a.cc": good}) == [], find({"tests/unit/a.cc": good})
    assert find({"tests/unit/a.cc": "usleep(5);  // polls: the daemon's first answer\n"}) == []
    for text in ("sleep(1);", "std::this_thread::sleep_for(1ms);", "usleep (5);"):
        assert find({"tests/unit/a.cc": text}), text
        assert find({"src/base/a.cc": text}) == []
    for folder in ("home", "root", "work"):
        assert find({"conf/x.conf": f"dir /{folder}/somebody\n"}), folder

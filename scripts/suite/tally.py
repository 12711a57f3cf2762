"""Counts what passed and failed, and prints one line per step with its time."""

import re
import subprocess
import sys
import threading
import time

SHOWN_LINES = 60
_SANITIZER = re.compile(r"ERROR: \w+Sanitizer|: runtime error: ")


class Tally:
    """Thread-safe: programs report while others run."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self._lock = threading.Lock()

    def step(self, name, passed, failed, seconds, output=""):
        """Adds to the sums; `output` is shown when something failed."""
        with self._lock:
            self.passed += passed
            self.failed += failed
            if failed and output.strip():
                print(output.rstrip(), flush=True)
            verdict = f"{passed} passed" + (f", {failed} FAILED" if failed else "")
            print(f"  {name:<44} {verdict:<24} {seconds:5.1f} s", flush=True)

    def run(self, name, command, **options):
        """A command as one check: passed when it exits with 0."""
        started = time.monotonic()
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
        )
        ok = done.returncode == 0
        text = done.stdout.decode(errors="replace")
        self.step(name, int(ok), int(not ok), time.monotonic() - started, text)
        return ok


def excerpt(text):
    """The last lines of a crashed program, or, if a sanitizer reports something, the lines from its report on."""
    lines = text.rstrip().split("\n")
    first = max(0, len(lines) - SHOWN_LINES)
    for number, line in enumerate(lines):
        if _SANITIZER.search(line):
            first = max(0, number - 5)
            break
    shown = lines[first : first + SHOWN_LINES]
    if first:
        shown.insert(0, f"... {first} lines before")
    if first + SHOWN_LINES < len(lines):
        # The last line says how the program ended.
        shown += [f"... {len(lines) - first - SHOWN_LINES} lines more", lines[-1]]
    return "\n".join(shown)


def heading(text):
    print(text, flush=True)
    sys.stdout.flush()

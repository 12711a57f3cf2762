"""Counts what passed and failed, and prints one line per step with its time."""

import subprocess
import sys
import threading
import time

TAIL_LINES = 60


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


def tail(text, lines=TAIL_LINES):
    kept = text.rstrip().split("\n")
    if len(kept) <= lines:
        return "\n".join(kept)
    return "\n".join([f"... {len(kept) - lines} lines before"] + kept[-lines:])


def heading(text):
    print(text, flush=True)
    sys.stdout.flush()

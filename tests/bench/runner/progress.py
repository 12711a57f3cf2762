"""Shows on standard error how far a run is: on a terminal in one line that changes, elsewhere in a line now and then."""

import sys
import time

QUIET_S = 15


class Progress:
    def __init__(self, stream=sys.stderr):
        self._stream = stream
        self._live = stream.isatty()
        self._title = ""
        # Which of the sections runs, as "2 of 7".
        self.place = ""
        self._done = self._total = 0
        self._started = self._spoken = time.monotonic()

    def section(self, title, steps):
        """A section begins; it will call step() about `steps` times."""
        self._title = f"{self.place}, {title}" if self.place else title
        self._done, self._total = 0, max(steps, 1)
        self._started = time.monotonic()
        self._spoken = 0.0
        self.step("", 0)

    def step(self, what, count=1):
        """Shows what is being done now; `count` more steps have begun."""
        now = time.monotonic()
        self._done = min(self._done + count, self._total)
        # The step that has just begun is not done yet.
        percent = 100 * max(self._done - 1, 0) // self._total
        line = f"{self._title}: {percent} %{f', {what}' if what else ''}, {now - self._started:.0f} s"
        if self._live:
            self._stream.write(f"\r\x1b[K{line[:110]}")
            self._stream.flush()
        elif now - self._spoken >= QUIET_S:
            self._spoken = now
            print(line, file=self._stream, flush=True)

    def clear(self):
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def say(self, text):
        """A line that stays."""
        self.clear()
        print(f"mayfly: {text}", file=self._stream, flush=True)

"""What the Python drivers share: the transcript, and waits with a limit. Arguments of a driver: port, password."""

import json
import sys
import time

WAITS_S = 60
PAUSE_S = 0.005


def shown(value):
    """A value as JSON that shows its type."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, dict):
        return {"map": [[shown(k), shown(v)] for k, v in sorted(value.items())]}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, Exception):
        return {"error": type(value).__name__, "text": str(value)}
    return {"other": type(value).__name__, "text": repr(value)}


def tell(step, *values):
    print(json.dumps({"step": step, "saw": shown(values)}), flush=True)


def expect(truth, text):
    if not truth:
        sys.exit(text)


def eventually(call, accepts, text):
    """Repeats a call, with short pauses, until `accepts` is true of its result, and returns that. Exits after WAITS_S."""
    end = time.monotonic() + WAITS_S
    while True:
        value = call()
        if accepts(value):
            return value
        expect(time.monotonic() < end, f"{text}: {value!r}")
        time.sleep(PAUSE_S)

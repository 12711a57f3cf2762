"""How soon a server that starts with a file is of use."""

import os
import time

import kept
import plot
from figures import OURS, Figures, Trouble, add_parts, at_most, within
from wire import Wire

TITLE = "A start with a file"
ABOUT = """A server holds 10M keys of 100 random bytes. A client asks for them by their popularity (Zipf 0.99) for 20 s, the server saves, ends and
starts again. The client asks on meanwhile, 10,000 times a second: after what time is the first GET answered, how many GETs have no
value 1, 2, 5 and 10 s after the start (those that a server refuses while it loads count, too), and after what time is the whole file
loaded?"""
SECONDS = (420, 30)
NEEDS = "4 GiB of memory, 3 GB of disk"

VALUE_BYTES = 100
RATE = 10_000
SLICE_MS = 10
LONGEST_LOAD_S = 300
WATCHED_S = 12
# When the misses are looked at, in s after the start: the plot's points. The tables have those of SHOWN.
TIMES_S = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
SHOWN = (1, 2, 5, 10)
PLOT = "starts.svg"


def run(bench):
    keys = bench.choose(10_000_000, 300_000)
    bench.need_memory(4 * (1 << 30) * keys // 10_000_000, f"{keys:,} keys")
    found = Figures()
    rows = {
        "first_ms": found.figure("first GET answered after", "ms", at_most(50), main=True),
        "loaded_s": found.figure("whole file loaded after", "s", within(1, "redis"), main=True),
        **{t: found.figure(_name(t), "%", main=t in SHOWN) for t in TIMES_S},
    }
    bench.progress.section(TITLE, len(bench.specs))
    for spec in bench.specs:
        bench.progress.step(spec.name)
        add_parts(rows, spec.name, bench.attempt(_measure, bench, spec, keys))
    return found


def _name(time_s):
    return f"GETs without a value {time_s:g} s after the start"


def _measure(bench, spec, keys):
    kept_spec = kept.with_file(bench, spec)
    load = {"keys": keys, "rate": RATE, "slice_ms": SLICE_MS}
    with bench.start(kept_spec) as server:
        got = bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES, noise=1)
        if isinstance(got, Trouble):
            return got
        # Other requests than later, for the same popularity.
        with bench.client.traffic(server.port, **{**load, "rate": 50_000, "seed": 2}) as traffic:
            time.sleep(bench.choose(20, 2))
            traffic()
        with Wire(server.port, LONGEST_LOAD_S) as wire:
            wire.ask("SAVE")
        port = server.port
    with bench.client.traffic(port, **load) as traffic, bench.client.beside_it():
        began = time.time()
        with bench.start(kept_spec, port=port, ready_s=LONGEST_LOAD_S) as server:
            with server.wire() as wire:
                while wire.loads():
                    time.sleep(0.02)
                loaded_s = time.time() - began
                held = wire.ask("DBSIZE")
            time.sleep(max(0.0, began + WATCHED_S - time.time()))
            told = traffic()
    os.unlink(kept.file_of(bench, spec))
    if isinstance(told, Trouble):
        return told
    if held != keys:
        return Trouble(f"holds {held:,} of {keys:,} keys")
    return {"loaded_s": loaded_s, **_seen(told, began * 1000 - told["started_wall_ms"])}


def _seen(told, began_ms):
    """What the client saw; `began_ms` is the server's start on the client's time."""
    slices = told["slices"]
    found = {}
    for index, one in enumerate(slices):
        # A slice's end, since its replies may have come late in it.
        after_ms = (index + 1) * told["slice_ms"] - began_ms
        if after_ms > 0 and one["gets"] > one["errors"]:
            found["first_ms"] = after_ms
            break
    for time_s in TIMES_S:
        at = (began_ms + time_s * 1000) / told["slice_ms"]
        near = slices[max(0, int(at) - 5) : int(at) + 5]
        asked = sum(s["gets"] for s in near)
        found[time_s] = 100 - 100 * sum(s["hits"] for s in near) / asked if asked else 100
    return found


def draw(figures, path):
    """Hits over the time since the start, a line for each server."""
    columns = figures[0].columns() if figures else []
    curves = {}
    for column in [c for c in (OURS, *columns) if c in columns]:
        values = {t: next((f.value(column) for f in figures if f.name == _name(t)), None) for t in TIMES_S}
        curves[column] = [(0, 0), *((t, 100 - v) for t, v in values.items() if v is not None)]
    plot.lines(curves, "seconds after the start", "GETs with a value, %", path)

"""What a planned restart costs the clients."""

import os
import socket
import time

import kept
import plot
from figures import OURS, Figures, Trouble, add_parts, at_most

TITLE = "A planned restart"
ABOUT = """A server holds 5 GB: 4.5M keys of 1,000 random bytes. A client asks for them by their popularity (Zipf 0.99), 10,000 times a second.
The server is stopped by SIGTERM, saves, ends, and is started again at once. Connections that break are opened again every 10 ms. Mayfly
gets its listening socket as from systemd, which keeps it open meanwhile; the other servers open theirs. How many connections are
refused, how many requests are lost with their connection, how long is nothing answered, and how long does it take until 99 of 100
requests have a value again?"""
SECONDS = (420, 60)
NEEDS = "12 GiB of memory, 5 GB of disk"

VALUE_BYTES = 1000
RATE = 10_000
SLICE_MS = 50
LONGEST_S = 300
BEFORE_S = 3
GOOD = 0.99
# When the hits are looked at, in s after the stop: the plot's points.
TIMES_S = tuple(range(0, 61, 2))
PLOT = "restarts.svg"


def run(bench):
    keys = bench.choose(4_500_000, 200_000)
    bench.need_memory(12 * (1 << 30) * keys // 4_500_000, f"{keys:,} keys")
    found = Figures()
    rows = {
        "refused": found.figure("connections refused", "", at_most(0), main=True),
        "lost": found.figure("requests lost with their connection", "", main=True),
        "silent_s": found.figure("longest time without an answer", "s", main=True),
        "back_s": found.figure("99 % of the GETs have a value again after", "s", main=True),
        **{t: found.figure(_name(t), "%") for t in TIMES_S},
    }
    bench.progress.section(TITLE, len(bench.specs))
    for spec in bench.specs:
        bench.progress.step(spec.name)
        add_parts(rows, spec.name, bench.attempt(_measure, bench, spec, keys))
    return found


def _name(time_s):
    return f"GETs without a value {time_s:g} s after the stop"


class _Listening:
    """A listening socket that outlives the server, as systemd's: options for bench.start."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=511)
        self.port = self._socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def options(self):
        number = self._socket.fileno()
        handed = f'exec 3<&{number}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'
        return {"port": self.port, "files": (number,), "wrapper": ("/bin/sh", "-c", handed, "sh")}


def _measure(bench, spec, keys):
    if spec.name == OURS:
        with _Listening() as listening:
            return _restart(bench, spec, keys, listening.options())
    return _restart(bench, spec, keys, {})


def _restart(bench, spec, keys, options):
    options = {**options, "ready_s": LONGEST_S, "stop_s": LONGEST_S}
    kept_spec = kept.saving(bench, spec)
    with bench.start(kept_spec, **options) as server:
        got = bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES, noise=1)
        if isinstance(got, Trouble):
            return got
        options["port"] = server.port
        with bench.client.traffic(server.port, keys=keys, rate=RATE, slice_ms=SLICE_MS) as traffic, bench.client.beside_it():
            time.sleep(BEFORE_S)
            stopped = time.time()
            server.stop()
            with bench.start(kept_spec, **options) as again:
                with again.wire() as wire:
                    while wire.loads():
                        time.sleep(0.1)
                    held = wire.ask("DBSIZE")
                time.sleep(1)
                told = traffic()
                again.kill()
    os.unlink(kept.file_of(bench, spec))
    if isinstance(told, Trouble):
        return told
    if held != keys:
        return Trouble(f"holds {held:,} of {keys:,} keys")
    return _seen(told, stopped * 1000 - told["started_wall_ms"])


def _seen(told, stopped_ms):
    """What the client saw; `stopped_ms` is the stop on the client's time."""
    slice_s = told["slice_ms"] / 1000
    begin = int(stopped_ms // told["slice_ms"])
    slices = told["slices"][begin:]
    found = {"refused": sum(s["refused"] for s in slices), "lost": sum(s["lost"] for s in slices)}
    silent = longest = back = 0
    for index, one in enumerate(slices):
        silent = 0 if one["gets"] > one["errors"] else silent + 1
        longest = max(longest, silent)
        if one["hits"] < GOOD * one["gets"] or not one["gets"]:
            back = index + 1
    found["silent_s"] = longest * slice_s
    found["back_s"] = back * slice_s
    for time_s in TIMES_S:
        at = int(time_s / slice_s)
        near = slices[max(0, at - 4) : at + 4]
        asked = sum(s["gets"] for s in near)
        # What came after the end of the measurement is as its end was.
        found[time_s] = (100 - 100 * sum(s["hits"] for s in near) / asked if asked else 100) if near else 0
    return found


def draw(figures, path):
    """Hits over the time since the stop, a line for each server."""
    columns = figures[0].columns() if figures else []
    curves = {}
    for column in columns:
        values = {t: next((f.value(column) for f in figures if f.name == _name(t)), None) for t in TIMES_S}
        curves[column] = [(t, 100 - v) for t, v in values.items() if v is not None]
    plot.lines(curves, "seconds after the stop", "GETs with a value, %", path)

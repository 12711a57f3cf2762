"""How long requests wait that come at a steady rate, also beside the work of a server by itself."""

import contextlib
import os

import kept
import plot
from figures import OURS, Figures, Trouble, add_parts
from table import columns_of, number

TITLE = "Latency at a steady rate"
ABOUT = """Requests come at random times over 50 connections, each when it is due, whether or not earlier ones have their replies: GET, and a
tenth of them SET EX, of 1M keys with values of 100 bytes, by their popularity (Zipf 0.99). A wait counts from the time at which the
request was due, so a server that stalls spoils the waits of all requests that were due meanwhile (no coordinated omission). The two
rates are the same for all servers: those that take 50 % and 80 % of a processor of Redis, as measured before without pipelining. Beside
the requests nothing happens; or 1M other keys expire, spread over these 10 s; or each write is of a new key, at maxmemory, so that it
evicts another (allkeys-lru); or the server saves, again and again; or a replica asks for one full synchronisation after the other. A
server's threads and its forked children have the same processor as the server."""
SECONDS = (700, 90)
NEEDS = "2 GiB of memory, 200 MB of disk"

VALUE_BYTES = 100
CONNECTIONS = 50
WRITE_SHARE = 0.1
LOADS = (50, 80)
PARTS = {"p50_us": "p50", "p90_us": "p90", "p99_us": "p99", "p999_us": "p99.9", "p9999_us": "p99.99"}
# What docs/benchmarks.md shows: at the higher load all, at the lower one these.
SHOWN = ("p50_us", "p999_us")
PLOT = "steady.svg"
FRONT = "steady"
REFERENCE = "redis"


def _expiry(bench, server, keys, seconds):
    """Keys that expire while the requests are measured, which begins about now."""
    ttl_ms = f"1000-{1000 * (1 + seconds)}"
    got = bench.client.load(server, first=keys, keys=keys, value_bytes=VALUE_BYTES, ttl_ms=ttl_ms)
    if isinstance(got, Trouble):
        return got
    return {"warm_up": 0.5}


def _eviction(_bench, server, _keys, _seconds):
    with server.wire() as wire:
        wire.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        wire.ask("CONFIG", "SET", "maxmemory", wire.info("memory")["used_memory"])
    return {"new_keys": 1}


def _syncs(_bench, server, _keys, _seconds):
    with server.wire() as wire:
        # Otherwise Redis waits for five seconds whether more replicas come.
        wire.ask("CONFIG", "SET", "repl-diskless-sync-delay", "0")
    return {"syncs": 1}


CASES = {
    "alone": lambda *_: {},
    "beside expiry": _expiry,
    "beside eviction": _eviction,
    "beside saves": lambda *_: {"beside": "BGSAVE", "beside_ms": 100},
    "beside full syncs": _syncs,
}


def run(bench):
    keys = bench.choose(1_000_000, 100_000)
    bench.need_memory(2 << 30, "the keys, and a fork's copy")
    found = Figures()
    bench.progress.section(TITLE, 1 + len(LOADS) * len(CASES) * len(bench.specs))
    bench.progress.step("how many requests take a whole processor")
    whole = _requests_of_a_processor(bench, keys)
    for load in LOADS:
        rate = round(whole * load / 100, -3)
        for case, prepare in CASES.items():
            rows = {p: found.figure(_name(case, load, t), "µs", main=load == LOADS[-1] or p in SHOWN) for p, t in PARTS.items()}
            rows["max_us"] = found.figure(f"{case}, {load} %: longest wait", "µs")
            rows["processor"] = found.figure(f"{case}, {load} %: of a processor", "%", main=case == "alone")
            for spec in _rotated(bench, load, case):
                bench.progress.step(f"{case}, {rate:,.0f} a second, {spec.name}")
                add_parts(rows, spec.name, bench.attempt(_measure, bench, spec, keys, rate, prepare))
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(kept.file_of(bench, spec))
    return found


def _name(case, load, part):
    return f"{case}, {load} %: {part}"


def _rotated(bench, load, case):
    return bench.rotated(bench.specs, LOADS.index(load) + list(CASES).index(case))


def _requests_of_a_processor(bench, keys):
    """How many of these requests a second the reference would take with a whole processor, each alone."""
    spec = next((s for s in bench.specs if s.name == REFERENCE), bench.specs[0])
    writes = round(1 / WRITE_SHARE)
    forms = ["GET k:{k}"] * (writes - 1) + [f"SET k:{{k}} {'v' * VALUE_BYTES} EX 3600"]
    with bench.start(spec) as server:
        bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES)
        asked = {"request": " ; ".join(forms), "connections": CONNECTIONS, "keys": keys, "depth": 1}
        got = bench.client.ask(server, requests=bench.choose(1_000_000, 100_000), **asked)
    return 1e6 / got["cpu_us"]


def _measure(bench, spec, keys, rate, prepare):
    seconds = bench.choose(10, 2)
    with bench.start(kept.with_file(bench, spec)) as server:
        got = bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES, noise=1)
        if isinstance(got, Trouble):
            return got
        options = prepare(bench, server, keys, seconds)
        if isinstance(options, Trouble):
            return options
        asked = {"rate": rate, "seconds": seconds, "keys": keys, "value_bytes": VALUE_BYTES, "connections": CONNECTIONS}
        asked |= {"write_share": WRITE_SHARE, "ttl_ms": 3_600_000, "warm_up": 1.0} | options
        before = server.cpu_s()
        got = bench.client.pace(server, **asked)
        if isinstance(got, Trouble):
            return got
        got["processor"] = 100 * (server.cpu_s() - before) / (asked["seconds"] + asked["warm_up"])
    return got


def front_text(figures):
    """The table of docs/benchmarks.md: the percentiles of each server at both loads."""
    by_name = {f.name: f for f in figures}
    columns = [OURS, *(c for c in columns_of(figures) if c != OURS)]
    parts = [t for p, t in PARTS.items() if p != "p90_us"]
    lines = ["| " + " / ".join(parts) + ", µs | " + " | ".join(c.capitalize() for c in columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for load in LOADS:
        for case in CASES:
            values = {c: [by_name[_name(case, load, t)].value(c) for t in parts] for c in columns}
            cells = ["-" if None in v else " / ".join(map(number, v)) for v in values.values()]
            lines.append(f"| {case}, {load} % | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(figures, path):
    """A panel for each case at the higher load: the waits of each server."""
    columns = figures[0].columns() if figures else []
    by_name = {f.name: f for f in figures}
    panels = {}
    for case in CASES:
        rows = [by_name.get(_name(case, LOADS[-1], part)) for part in PARTS.values()]
        panels[case] = {c: [r.value(c) if r else None for r in rows] for c in (OURS, *columns) if c in columns}
    plot.grid(panels, [part.removeprefix("p") for part in PARTS.values()], "percentile", f"wait at {LOADS[-1]} %, µs", path)

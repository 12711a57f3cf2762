"""How late `expired` events come."""

import contextlib
import time

from figures import OURS, Figures, Trouble, add_parts, at_most
from peers import newer_redis, ours_first
from servers import Spec
from table import columns_of, number

TITLE = "Expired events"
ABOUT = """1,000 keys have the same deadline, and a subscriber waits for their `expired` events: how long after the deadline the events
come, and how many have not come after 180 s (each counts as 180 s late). Beside no other key, and beside 10,000 to ten million with
TTLs of 1 to 2 hours. Redis also runs with active-expire-effort 10, its highest. Mayfly runs first, alone. The other servers' waits go
on at the same time, since they are idle meanwhile. Then Mayfly beside ten million keys with a TTL of 3 minutes to 2 hours, with the
deadline on a multiple of 262,144 ms of the machine's clock, where the wheel refiles the keys of its higher levels. Mayfly's INFO
reports the lateness of keys."""
SECONDS = (750, 90)
NEEDS = "12 GiB of memory"

FRONT = "events"
KEYS = 1000
LEAD_S = 2
# A server whose events come in time is done after that; longer waits need not be alone.
ALONE_S = 2
GIVE_UP_S = (180, 30)
CHANNEL = "__keyevent@0__:expired"
VALUE_BYTES = 32
MINUTE_MS = 60_000
TTL_MS = f"{60 * MINUTE_MS}-{120 * MINUTE_MS}"
BOUNDARY_TTL_MS = f"{3 * MINUTE_MS}-{120 * MINUTE_MS}"
OTHERS = {"no other key": 0, "10k others": 10_000, "100k others": 100_000, "1M others": 1_000_000, "10M others": 10_000_000}
QUICK = ("no other key", "10k others", "1M others")
BOUNDARY = "10M others, at a boundary"
BOUNDARY_MS = 64**3
BYTES_PER_KEY = 160
PARTS = {"p50_ms": "p50", "p99_ms": "p99", "max_ms": "longest"}


def run(bench):
    found = Figures()
    cases = OTHERS if not bench.quick else {name: OTHERS[name] for name in QUICK}
    give_up_s = bench.choose(*GIVE_UP_S)
    names = [*cases, *([] if bench.quick else [BOUNDARY])]
    rows = {name: _rows(found, name, give_up_s) for name in names}
    ours, peers = ours_first(bench)
    peers += newer_redis(bench)
    peers += [Spec(f"{s.name}, effort 10", f"{s.command} --active-expire-effort 10") for s in peers if s.name == "redis"]
    bench.progress.section(TITLE, len(cases) * (1 + len(peers)) + 1)
    for name in [*names] if ours else []:
        bench.progress.step(f"{name}, {OURS}")
        with contextlib.ExitStack() as stack:
            at_boundary = name == BOUNDARY
            result = bench.attempt(_begin, bench, stack, ours[0], OTHERS["10M others"] if at_boundary else cases[name], give_up_s, at_boundary)
            add_parts(rows[name], OURS, result if isinstance(result, Trouble) else bench.attempt(result))
    # All at once, since a wait of minutes is idle; the largest first, which take the longest to fill.
    waiting = []
    with contextlib.ExitStack() as stack:
        for name, others in sorted(cases.items(), key=lambda case: -case[1]):
            for spec in peers:
                bench.progress.step(f"{name}, {spec.name}")
                lack = bench.lack_of_memory(others * BYTES_PER_KEY, f"{others:,} keys")
                waiting.append((name, spec.name, lack or bench.attempt(_begin, bench, stack, spec, others, give_up_s)))
                if not isinstance(waiting[-1][2], Trouble):
                    time.sleep(LEAD_S + ALONE_S)
        for name, column, result in waiting:
            add_parts(rows[name], column, result if isinstance(result, Trouble) else bench.attempt(result))
    return found


def _rows(found, name, give_up_s):
    return {
        "p50_ms": found.figure(f"lag, {name}: p50", "ms", main=True),
        "p99_ms": found.figure(f"lag, {name}: p99", "ms", at_most(3), main=True),
        "max_ms": found.figure(f"lag, {name}: longest", "ms", main=True),
        "info_ms": found.figure(f"the same by INFO, {name}: p99", "ms"),
        "missing": found.figure(_missing(name, give_up_s), "", at_most(0), main=True),
        "early": found.figure(f"early, {name}", "", at_most(0)),
    }


def _missing(name, give_up_s):
    return f"events of 1,000 that have not come after {give_up_s} s, {name}"


def _deadline_ms(at_boundary):
    """In ms of the wall clock."""
    lead_ms = LEAD_S * 1000
    if at_boundary:
        mono_ms = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
        lead_ms += BOUNDARY_MS - (mono_ms + lead_ms) % BOUNDARY_MS
    return round(time.time() * 1000 + lead_ms)


def _begin(bench, stack, spec, others, give_up_s, at_boundary=False):
    """Fills a server, which runs as long as the stack, and sets the deadline; returns a function that waits for the result, or a
    Trouble."""
    server = stack.enter_context(bench.start(spec))
    wire = stack.enter_context(server.wire())
    if others:
        ttl_ms = BOUNDARY_TTL_MS if at_boundary else TTL_MS
        got = bench.client.load(server, keys=others, first=KEYS, value_bytes=VALUE_BYTES, ttl_ms=ttl_ms)
        if isinstance(got, Trouble):
            return got
    wire.ask("CONFIG", "SET", "notify-keyspace-events", "Ex")
    deadline_ms = _deadline_ms(at_boundary)
    options = {"channel": CHANNEL, "at_ms": deadline_ms, "expect": KEYS, "give_up_ms": give_up_s * 1000}
    result = stack.enter_context(bench.client.listening(server, **options))
    got = bench.client.load(server, keys=KEYS, value_bytes=VALUE_BYTES, at_ms=deadline_ms)
    if isinstance(got, Trouble):
        return got
    wire.ask("CONFIG", "RESETSTAT")
    return lambda: _finish(wire, result)


def _finish(wire, result):
    got = result()
    if isinstance(got, Trouble):
        return got
    lag_us = wire.info("expiry").get("expire_lag_p99_us")
    if lag_us is not None:
        got["info_ms"] = int(lag_us) / 1000
    return got


def _lag(ms):
    return "-" if ms is None else f"{number(ms)} ms" if ms < 1000 else f"{number(ms / 1000)} s"


def front_text(figures):
    """The table of docs/benchmarks.md: p50, p99 and the longest lag of each server, and how many events did not come."""
    by_name = {figure.name: figure for figure in figures}
    columns = columns_of(figures)
    give_up_s = next(s for s in GIVE_UP_S if _missing(next(iter(OTHERS)), s) in by_name)
    lines = [f"One run, {give_up_s} s at most:", ""]
    lines += ["| beside | " + " | ".join(c.capitalize() for c in columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for name in (name for name in OTHERS if _missing(name, give_up_s) in by_name):
        cells = []
        for column in columns:
            values = [by_name[f"lag, {name}: {part}"].value(column) for part in PARTS.values()]
            missing = by_name[_missing(name, give_up_s)].value(column)
            cells.append(" / ".join(map(_lag, values)) + (f"; {missing:.0f} did not come" if missing else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)

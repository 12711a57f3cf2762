"""How late `expired` events come."""

import time

from figures import Figures, Trouble, add_parts, at_most

TITLE = "Expired events"
ABOUT = """1,000 keys have the same deadline, and a subscriber waits for their `expired` events: how long after the deadline the events
come, and how many have not come after 30 s (each counts as 30 s late). Three runs: without other keys; beside a million keys
with a TTL of 1 to 2 hours; beside ten million with a TTL of 3 minutes to 2 hours, with the deadline on a multiple of 262,144 ms
of the machine's clock, where Mayfly's wheel refiles the keys of its higher levels. Mayfly's INFO reports the lateness of keys."""
SECONDS = (700, 60)
NEEDS = "2 GiB of memory"

KEYS = 1000
LEAD_S = 2
CHANNEL = "__keyevent@0__:expired"
VALUE_BYTES = 32
MINUTE_MS = 60_000
CASES = (
    ("no other key", 0, "", False),
    ("1M other keys with a TTL", 1_000_000, f"{60 * MINUTE_MS}-{120 * MINUTE_MS}", False),
    ("10M other keys, at a boundary", 10_000_000, f"{3 * MINUTE_MS}-{120 * MINUTE_MS}", True),
)
BOUNDARY_MS = 64**3


def run(bench):
    found = Figures()
    cases = CASES if not bench.quick else CASES[:2]
    rows = {}
    for name, _, _, _ in cases:
        rows[name] = {
            "p50_ms": found.figure(f"lag, {name}: p50", "ms"),
            "p99_ms": found.figure(f"lag, {name}: p99", "ms", at_most(3), main=True),
            "info_ms": found.figure(f"the same by INFO, {name}: p99", "ms"),
            "missing": found.figure(f"missing after 30 s, {name}", "", at_most(0)),
            "early": found.figure(f"early, {name}", "", at_most(0)),
        }
    bench.progress.section(TITLE, len(cases) * len(bench.specs))
    for name, others, ttl_ms, at_boundary in cases:
        for spec in bench.specs:
            bench.progress.step(f"{name}, {spec.name}")
            got = bench.attempt(_measure, bench, spec, others, ttl_ms, at_boundary)
            add_parts(rows[name], spec.name, got)
    return found


def _deadline_ms(at_boundary):
    """In ms of the wall clock."""
    lead_ms = LEAD_S * 1000
    if at_boundary:
        mono_ms = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
        lead_ms += BOUNDARY_MS - (mono_ms + lead_ms) % BOUNDARY_MS
    return round(time.time() * 1000 + lead_ms)


def _measure(bench, spec, others, ttl_ms, at_boundary):
    with bench.start(spec) as server:
        if others:
            got = bench.client.load(server, keys=others, first=KEYS, value_bytes=VALUE_BYTES, ttl_ms=ttl_ms)
            if isinstance(got, Trouble):
                return got
        with server.wire() as wire:
            wire.ask("CONFIG", "SET", "notify-keyspace-events", "Ex")
            deadline_ms = _deadline_ms(at_boundary)
            with bench.client.listening(server, channel=CHANNEL, at_ms=deadline_ms, expect=KEYS) as result:
                got = bench.client.load(server, keys=KEYS, value_bytes=VALUE_BYTES, at_ms=deadline_ms)
                if isinstance(got, Trouble):
                    return got
                wire.ask("CONFIG", "RESETSTAT")
                got = result()
            if isinstance(got, Trouble):
                return got
            lag_us = wire.info("expiry").get("expire_lag_p99_us")
    if lag_us is not None:
        got["info_ms"] = int(lag_us) / 1000
    return got

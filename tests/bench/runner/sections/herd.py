"""Many keys that expire at one instant: how soon they are gone, and what a client waits meanwhile."""

import time

from figures import Figures, Trouble, add_parts, at_most

TITLE = "Keys that expire at one instant"
ABOUT = """1M keys have the same deadline. All are freed when DBSIZE is 0 and used_memory has fallen by nine tenths of the keys' memory;
expired_keys must have risen by exactly their number. From half a second before the deadline, another client asks for an
absent key 1,000 times a second and measures its waits. INFO reports the longest turn of Mayfly's loop."""
SECONDS = (115, 9)
NEEDS = ""

VALUE_BYTES = 32
# What may be left when the keys are gone: tables that shrink slowly, buffers.
KEPT_PART = 0.1
BEFORE_MS = 500


def run(bench):
    keys = bench.choose(1_000_000, 100_000)
    rounds = bench.choose(5, 1)
    median = bench.median_of(rounds)
    found = Figures()
    rows = {
        "gone_ms": found.figure(
            f"{keys:,} expire at once: all freed after",
            "ms",
            at_most(300),
            main=True,
            front=f"{keys:,} keys expire at once: time until all are freed",
        ),
        "p99_us": found.figure("p99 of a 1 kHz client meanwhile", "µs"),
        "p999_us": found.figure(
            "p99.9 of a 1 kHz client meanwhile",
            "µs",
            at_most(2000),
            main=True,
            front=f"another client's waits meanwhile, p99.9{median}",
        ),
        "max_us": found.figure(f"longest wait of that client{median}", "µs", main=True),
        "loop_turn_max_us": found.figure(f"longest loop turn meanwhile{median}", "µs", at_most(2000)),
    }
    bench.progress.section(TITLE, rounds * len(bench.specs))
    for turn in range(rounds):
        for spec in bench.rotated(bench.specs, turn):
            bench.progress.step(f"round {turn + 1} of {rounds}, {spec.name}")
            got = bench.attempt(_measure, bench, spec, keys)
            add_parts(rows, spec.name, got)
    return found


def _measure(bench, spec, keys):
    with bench.start(spec) as server:
        # A tenth of the keys, without a deadline, shows how long all of them will take.
        trial = bench.client.load(server, keys=keys // 10, value_bytes=VALUE_BYTES)
        if isinstance(trial, Trouble):
            return trial
        with server.wire() as wire:
            wire.ask("FLUSHALL")
            empty = int(wire.info("memory")["used_memory"])
            lead_s = 20 * trial["seconds"] + 1.5
            deadline_ms = round((time.time() + lead_s) * 1000)
            got = bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES, at_ms=deadline_ms)
            if isinstance(got, Trouble):
                return got
            full = int(wire.info("memory")["used_memory"])
            held = wire.ask("DBSIZE")
            wire.ask("CONFIG", "RESETSTAT")
            expired = int(wire.info("stats")["expired_keys"])
            left_s = deadline_ms / 1000 - time.time() - BEFORE_MS / 1000
            if held != keys or left_s < 0:
                return Trouble(f"{held:,} of {keys:,} keys were there {lead_s:.0f} s after loading began")
            time.sleep(left_s)
            below = round(empty + KEPT_PART * (full - empty))
            got = bench.client.probe(server, until_gone=deadline_ms, below_bytes=below)
            if isinstance(got, Trouble):
                return got
            stats = wire.info("stats")
    freed = int(stats["expired_keys"]) - expired
    if freed != keys:
        return Trouble(f"expired_keys rose by {freed:,}, not by {keys:,}")
    if "loop_turn_max_us" in stats:
        got["loop_turn_max_us"] = int(stats["loop_turn_max_us"])
    return got

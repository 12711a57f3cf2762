"""Tags: what they cost a key, and how a million keys go together."""

import time

from figures import OURS, Figures, Trouble, at_most

TITLE = "Tags"
ABOUT = """1M keys have three tags each, a feature of Mayfly alone: a tag of all keys, and two tags of 1,000, with a thousand keys each.
Resident bytes per membership beyond the same keys without tags. Then INVALIDATE of the common tag: the time of the answer,
the time until the memory is free, and the waits of another client with 1,000 requests a second."""
SECONDS = (60, 10)
NEEDS = "1 GiB of memory"

GROUPS = 1_000
TAGS = 3
KEPT_PART = 0.1
PATIENCE_S = 60
PLAIN = "SET k:{k}:{m} v EX 7200"
TAGGED = f"{PLAIN} TAGS {TAGS} all g:{{k}} m:{{m}}"


def run(bench):
    keys = bench.choose(1_000_000, 100_000)
    rounds = bench.choose(3, 1)
    found = Figures()
    rows = {
        "membership_bytes": found.figure(f"bytes a membership, {keys:,} keys with {TAGS} tags", "B", at_most(24), main=True),
        "answer_us": found.figure(f"INVALIDATE of {keys:,} keys: answered after", "µs", at_most(1500)),
        "gone_ms": found.figure("their memory is free after", "ms", main=True),
        "p999_us": found.figure("p99.9 of a 1 kHz client meanwhile", "µs", at_most(2000), main=True),
        "loop_turn_max_us": found.figure("longest loop turn meanwhile", "µs", at_most(2000)),
    }
    bench.progress.section(TITLE, rounds)
    spec = next(spec for spec in bench.specs if spec.name == OURS)
    for turn in range(rounds):
        bench.progress.step(f"round {turn + 1} of {rounds}")
        got = bench.attempt(_measure, bench, spec, keys)
        for name, row in rows.items():
            row.add(OURS, got if isinstance(got, Trouble) else got[name])
    return found


def _load(bench, server, keys, form):
    return bench.client.load(server, keys=keys // GROUPS, members=GROUPS, request=form)


def _measure(bench, spec, keys):
    with bench.start(spec) as server:
        start = server.settled_bytes()
        got = _load(bench, server, keys, PLAIN)
        if isinstance(got, Trouble):
            return got
        plain = server.settled_bytes() - start
    with bench.start(spec) as server, server.wire() as wire:
        start = server.settled_bytes()
        empty = int(wire.info("memory")["used_memory"])
        got = _load(bench, server, keys, TAGGED)
        if isinstance(got, Trouble):
            return got
        tagged = server.settled_bytes() - start
        full = int(wire.info("memory")["used_memory"])
        with bench.client.beside_it(), bench.client.probing(server) as finish:
            wire.ask("CONFIG", "RESETSTAT")
            began = time.monotonic()
            dropped = wire.ask("INVALIDATE", "all")
            answered = time.monotonic()
            while int(wire.info("memory")["used_memory"]) > empty + KEPT_PART * (full - empty):
                if time.monotonic() - began > PATIENCE_S:
                    return Trouble(f"the memory was not free {PATIENCE_S} s after INVALIDATE")
                time.sleep(0.01)
            gone = time.monotonic()
            waits = finish()
        if isinstance(waits, Trouble):
            return waits
        if dropped != keys:
            return Trouble(f"INVALIDATE has dropped {dropped:,} of {keys:,} keys")
        return {
            "membership_bytes": (tagged - plain) / (keys * TAGS),
            "answer_us": (answered - began) * 1e6,
            "gone_ms": (gone - began) * 1e3,
            "p999_us": waits["p999_us"],
            "loop_turn_max_us": int(wire.info("stats")["loop_turn_max_us"]),
        }

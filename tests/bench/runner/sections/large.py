"""Values of millions of elements: their fields expire at one instant, they grow, they are deleted."""

import time

from figures import Figures, Trouble, at_most

TITLE = "Large values"
ABOUT = """A hash of 1M fields with the same deadline: the time until the key is gone and its memory free, and the waits of another client
with 1,000 requests a second. Servers without field TTLs have no figure. Then a hash, a set, a sorted set and a list grow to
10M elements, and are deleted: the longest turn of the loop by INFO, and the longest wait of the other client, on the same
processor as the inserting client."""
SECONDS = (900, 20)
NEEDS = "3 GiB of memory"

KEY = "big"
FORMS = {
    "hash": f"HSET {KEY} f:{{m}} v",
    "set": f"SADD {KEY} m:{{m}}",
    "sorted set": f"ZADD {KEY} {{m}} m:{{m}}",
    "list": f"RPUSH {KEY} e:{{m}}",
}
KEPT_PART = 0.1
BEFORE_MS = 500
PATIENCE_S = 60


def run(bench):
    fields = bench.choose(1_000_000, 100_000)
    elements = bench.choose(10_000_000, 300_000)
    rounds = bench.choose(3, 1)
    bench.need_memory(3 << 30, f"{elements:,} elements")
    found = Figures()
    herd = {
        "gone_ms": found.figure(f"{fields:,} fields expire at once: all freed after", "ms", at_most(500), main=True),
        "p999_us": found.figure("p99.9 of a 1 kHz client meanwhile", "µs", at_most(2000), main=True),
        "loop_turn_max_us": found.figure("longest loop turn meanwhile", "µs", at_most(2000)),
    }
    rows = {}
    for kind in FORMS:
        for work in ("grows to", "deleted with"):
            what = f"{kind} {work} {elements:,}"
            rows[kind, work] = {
                "loop_turn_max_us": found.figure(f"{what}: longest loop turn", "µs", at_most(2000), main=True),
                "max_us": found.figure(f"{what}: longest wait of a client", "µs"),
            }
    bench.progress.section(TITLE, rounds * len(bench.specs) * (1 + len(FORMS)))
    for turn in range(rounds):
        for spec in bench.rotated(bench.specs, turn):
            bench.progress.step(f"round {turn + 1} of {rounds}, fields that expire, {spec.name}")
            _add(herd, spec.name, bench.attempt(_expire, bench, spec, fields))
        for kind, form in FORMS.items():
            for spec in bench.rotated(bench.specs, turn):
                bench.progress.step(f"round {turn + 1} of {rounds}, a {kind} of {elements:,}, {spec.name}")
                got = bench.attempt(_grow_and_delete, bench, spec, form, elements)
                for work in ("grows to", "deleted with"):
                    _add(rows[kind, work], spec.name, got if isinstance(got, Trouble) else got[work])
    return found


def _add(rows, name, got):
    for part, row in rows.items():
        if isinstance(got, Trouble):
            row.add(name, got)
        elif part in got:
            row.add(name, got[part])


def _expire(bench, spec, fields):
    with bench.start(spec) as server, server.wire() as wire:
        try:
            wire.ask("HSETEX", "trial", "EX", 1, "FIELDS", 1, "f", "v")
        except Exception:
            return Trouble("has no TTLs of fields")
        start = time.time()
        trial = bench.client.load(server, keys=1, members=fields // 10, request=f"HSET {KEY} f:{{m}} v")
        if isinstance(trial, Trouble):
            return trial
        lead_s = 30 * (time.time() - start) + 2
        wire.ask("FLUSHALL")
        empty = int(wire.info("memory")["used_memory"])
        deadline_ms = round((time.time() + lead_s) * 1000)
        form = f"HSETEX {KEY} PXAT {deadline_ms} FIELDS 1 f:{{m}} v"
        got = bench.client.load(server, keys=1, members=fields, request=form)
        if isinstance(got, Trouble):
            return got
        full = int(wire.info("memory")["used_memory"])
        held = wire.ask("HLEN", KEY)
        wire.ask("CONFIG", "RESETSTAT")
        left_s = deadline_ms / 1000 - time.time() - BEFORE_MS / 1000
        if held != fields or left_s < 0:
            return Trouble(f"{held:,} of {fields:,} fields were there {lead_s:.0f} s after loading began")
        time.sleep(left_s)
        below = round(empty + KEPT_PART * (full - empty))
        got = bench.client.probe(server, until_gone=deadline_ms, below_bytes=below)
        if not isinstance(got, Trouble):
            got |= _turn(wire)
        return got


def _turn(wire):
    stats = wire.info("stats")
    return {"loop_turn_max_us": int(stats["loop_turn_max_us"])} if "loop_turn_max_us" in stats else {}


def _grow_and_delete(bench, spec, form, elements):
    with bench.start(spec) as server, server.wire() as wire:
        empty = int(wire.info("memory")["used_memory"])
        with bench.client.probing(server) as finish:
            wire.ask("CONFIG", "RESETSTAT")
            got = bench.client.load(server, keys=1, members=elements, request=form)
            grown = finish()
        if isinstance(got, Trouble) or isinstance(grown, Trouble):
            return got if isinstance(got, Trouble) else grown
        grown |= _turn(wire)
        full = int(wire.info("memory")["used_memory"])
        with bench.client.probing(server) as finish:
            wire.ask("CONFIG", "RESETSTAT")
            wire.ask("DEL", KEY)
            give_up = time.time() + PATIENCE_S
            while int(wire.info("memory")["used_memory"]) > empty + KEPT_PART * (full - empty):
                if time.time() > give_up:
                    return Trouble(f"the memory was not free {PATIENCE_S} s after DEL")
                time.sleep(0.02)
            deleted = finish()
        if isinstance(deleted, Trouble):
            return deleted
        return {"grows to": grown, "deleted with": deleted | _turn(wire)}

"""What a client waits while many keys are inserted beside it."""

from figures import BARE, Figures, Trouble, add_parts, at_most, within

TITLE = "A client beside inserts"
ABOUT = """A connection inserts 4M keys with a TTL, 200 at a time. Another client asks 1,000 times a second: its longest wait and the
99.9th percentile. Both clients share a processor; the bare server (see cpu) shows the part of the machine itself. INFO reports
the longest turn of Mayfly's loop."""
SECONDS = (180, 7)
NEEDS = "1.5 GiB of memory"

VALUE_BYTES = 32
TTL_MS = "3600000-7200000"


def run(bench):
    keys = bench.choose(4_000_000, 200_000)
    rounds = bench.choose(5, 1)
    median = bench.median_of(rounds)
    bench.need_memory(1_500_000_000 * keys // 4_000_000, f"{keys:,} keys")
    found = Figures()
    rows = {
        "max_us": found.figure(f"longest wait beside {keys:,} inserts{median}", "µs", within(1.5, BARE), main=True),
        "p999_us": found.figure("p99.9 of the waits", "µs"),
        "loop_turn_max_us": found.figure(f"longest loop turn meanwhile{median}", "µs", at_most(2000)),
    }
    starts = bench.starts(bare=True)
    bench.progress.section(TITLE, rounds * len(starts))
    for turn in range(rounds):
        for name, start in bench.rotated(starts, turn):
            bench.progress.step(f"round {turn + 1} of {rounds}, {name}")
            got = bench.attempt(_measure, bench, start, keys)
            add_parts(rows, name, got)
    return found


def _measure(bench, start, keys):
    with start() as server, bench.client.probing(server) as finish:
        loaded = bench.client.load(server, keys=keys, value_bytes=VALUE_BYTES, ttl_ms=TTL_MS)
        got = finish()
        if isinstance(loaded, Trouble):
            return loaded
        if isinstance(got, Trouble) or server.name == BARE:
            return got
        with server.wire() as wire:
            held = wire.ask("DBSIZE")
            if held != keys:
                return Trouble(f"holds {held:,} of {keys:,} keys")
            stats = wire.info("stats")
    if "loop_turn_max_us" in stats:
        got["loop_turn_max_us"] = int(stats["loop_turn_max_us"])
    return got

"""The timing wheel alone, beside other designs."""

from figures import OURS, Figures, at_most

TITLE = "Timing wheel"
ABOUT = """Nanoseconds to set, move, refresh (move to a later time), remove and expire a timer, in random order, with entries of 80
bytes, at 1M and 10M timers. Mayfly's wheel stands beside the least that a hierarchical wheel can do, a 4-level cascading wheel,
a binary heap, and fixed slots with rounds (go-zero's design). No server takes part. Then the number of moved timers that fire
at a wrong tick, by Mayfly's wheel and by go-zero's rule."""
SECONDS = (65, 3)
NEEDS = "2.5 GiB of memory"

# Timers -> targets of set, move, remove.
TARGETS = {1_000_000: (25, 45, 35), 10_000_000: (40, 90, 90)}


def run(bench):
    counts = bench.choose((1_000_000, 10_000_000), (200_000,))
    bench.need_memory(250 * max(counts), f"{max(counts):,} timers")
    found = Figures()
    bench.progress.section(TITLE, len(counts) + 1)
    for count in counts:
        bench.progress.step(f"{count:,} timers")
        rounds = 3 if count <= 1_000_000 else 1
        targets = dict(zip(("set", "move", "remove"), TARGETS.get(count, ())))
        for design, costs in bench.run_json("wheel", count, rounds, "json")["designs"].items():
            for verb, ns in costs.items():
                limit = at_most(targets[verb]) if verb in targets else None
                found.figure(f"{verb}, {count:,} timers", "ns", limit, main=limit is not None).add(design, ns)
    bench.progress.step("moves")
    moves = bench.run_json("moves")
    row = found.figure(f"moved timers that fire at a wrong tick, of {moves['moves']}", "", at_most(0), main=True)
    row.add(OURS, moves["mayfly"])
    row.add("fixed slots with rounds", moves["slot_indices"])
    return found

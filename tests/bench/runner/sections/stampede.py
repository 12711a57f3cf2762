"""What many callers cost that miss one key at once."""

import plot
from figures import OURS, Figures, Trouble, at_most
from table import number

TITLE = "Many callers of one value"
ABOUT = """1,000 clients ask for the same key ten times a second each. The value takes 100 ms to compute and lives for 1 s. How often is the
value computed, and how long do callers wait? Five ways: every caller computes after a miss (GET and SET); a lock key (SET NX),
with a new look every 50 ms; TAKE, a command of Mayfly alone; TAKE with EARLY, a renewal before the deadline; TAKE of a value
with STALE, where the others get the old value meanwhile."""
SECONDS = (560, 70)
NEEDS = ""

COMPUTE_MS = 100
TTL_MS = 1000
WAYS = {
    "get": "GET and SET",
    "lock": "a lock key",
    "take": "TAKE",
    "early": "TAKE with EARLY",
    "stale": "TAKE with STALE",
}
OURS_ALONE = ("take", "early", "stale")
# The value lives for 1 s from the end of each computation, so it is computed once in 1.1 s, or with EARLY in 0.9 s.
MOST_PER_S = {"take": 1.0, "early": 1.3, "stale": 1.0}
# A caller that comes when the value is gone waits for one computation, and the clients' own 2 ms; with STALE nobody waits but
# the one that computes, and all at the first value.
MOST_WAIT_MS = {"take": COMPUTE_MS + 5, "stale": COMPUTE_MS + 5}
# What the table of docs/benchmarks.md and the plot show of each way.
PARTS = {"computed_per_s": "computed a second", "p50_ms": "wait, p50", "p99_ms": "wait, p99"}
PLOT = "stampede.svg"
FRONT = "stampede"


def run(bench):
    found = Figures()
    rows = {}
    for way in WAYS:
        most = MOST_PER_S.get(way)
        wait = at_most(MOST_WAIT_MS[way]) if way in MOST_WAIT_MS else None
        rows[way] = {
            "computed_per_s": found.figure(_name("computed_per_s", way), "a second", at_most(most) if most else None, main=True),
            "p50_ms": found.figure(_name("p50_ms", way), "ms", main=True),
            "p99_ms": found.figure(_name("p99_ms", way), "ms", main=True),
            "max_ms": found.figure(_name("max_ms", way), "ms", wait),
        }
    bench.progress.section(TITLE, len(WAYS) * len(bench.specs))
    seconds = bench.choose(60, 5)
    for way in WAYS:
        for spec in bench.specs:
            if way in OURS_ALONE and spec.name != OURS:
                continue
            bench.progress.step(f"{WAYS[way]}, {spec.name}")
            got = bench.attempt(_measure, bench, spec, way, seconds)
            for part, row in rows[way].items():
                row.add(spec.name, got if isinstance(got, Trouble) else got[part])
    return found


def _measure(bench, spec, way, seconds):
    with bench.start(spec) as server:
        return bench.client.stampede(server, way=way, compute_ms=COMPUTE_MS, ttl_ms=TTL_MS, seconds=seconds)


def _name(part, way):
    """The name of a figure: of one part of what was measured of one way."""
    names = {"computed_per_s": "computed, {}", "p50_ms": "wait, {}: p50", "p99_ms": "wait, {}: p99", "max_ms": "wait, {}: longest"}
    return names[part].format(WAYS[way])


def _value(figures, part, way, column=OURS):
    """Mayfly's number, or None."""
    return next((f.value(column) for f in figures if f.name == _name(part, way)), None)


def front_text(figures):
    """The table of docs/benchmarks.md: Mayfly's figures, a row for each way."""
    lines = ["| | " + " | ".join(PARTS.values()) + " |", "|---" + "|---:" * len(PARTS) + "|"]
    for way, name in WAYS.items():
        cells = [number(_value(figures, part, way)) + (" ms" if part.endswith("_ms") else "") for part in PARTS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(figures, path):
    """Writes the plot of that table."""
    panels = [
        (label + (" (ms)" if part.endswith("_ms") else ""), [_value(figures, part, way) for way in WAYS])
        for part, label in PARTS.items()
    ]
    plot.panels(list(WAYS.values()), panels, path)

"""What many callers cost that miss one key at once."""

from figures import OURS, Figures, Trouble, at_most

TITLE = "Many callers of one value"
ABOUT = """1,000 clients that ask for one key ten times a second each. Its value takes 100 ms to compute and lives for 1 s. How
often is it computed, and how long do callers wait: if everybody who misses it computes it (GET and SET); with a lock key
(SET NX), for which the others look every 50 ms; with TAKE, which only Mayfly has; with TAKE and EARLY, which renews it before
it expires."""
SECONDS = (500, 60)
NEEDS = ""

COMPUTE_MS = 100
TTL_MS = 1000
WAYS = {
    "get": "GET and SET",
    "lock": "a lock key",
    "take": "TAKE",
    "early": "TAKE with EARLY",
}
OURS_ALONE = ("take", "early")
# The value lives for 1 s from the end of each computation, so it is computed once in 1.1 s, or with EARLY in 0.9 s.
MOST_PER_S = {"take": 1.0, "early": 1.3}
# A caller that comes when the value is gone waits for one computation, and the clients' own 2 ms.
MOST_WAIT_MS = {"take": COMPUTE_MS + 5}


def run(bench):
    found = Figures()
    rows = {}
    for way, name in WAYS.items():
        most = MOST_PER_S.get(way)
        rows[way] = {
            "computed_per_s": found.figure(f"computed, {name}", "a second", at_most(most) if most else None, main=True),
            "p50_ms": found.figure(f"wait, {name}: p50", "ms"),
            "p99_ms": found.figure(f"wait, {name}: p99", "ms", main=True),
            "max_ms": found.figure(
                f"wait, {name}: longest", "ms", at_most(MOST_WAIT_MS[way]) if way in MOST_WAIT_MS else None
            ),
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

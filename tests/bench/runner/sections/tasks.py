"""How late delayed tasks come that are keys with a TTL, taken from Mayfly's EXPLOG."""

from figures import OURS, Figures, Trouble, at_most

TITLE = "Delayed tasks"
ABOUT = """A million keys have a value and a TTL, with 50,000 deadlines in each second. A worker waits for the keys with EXPLOG READ BLOCK
VALUES and releases them with EXPLOG ACK, which only Mayfly has: how long after its deadline each task comes, by the worker's
clock, and how many tasks are missing, come twice, have a wrong value, or come after a task with a later deadline. Alone, and
beside ten million other keys with a TTL of 3 minutes to 2 hours."""
SECONDS = (180, 40)
NEEDS = "3 GiB of memory"

TASKS = (1_000_000, 100_000)
PER_SECOND = 50_000
LEAD_MS = 10_000
VALUE_BYTES = 64
OTHERS = (10_000_000, 1_000_000)
MINUTE_MS = 60_000
OTHERS_TTL_MS = f"{3 * MINUTE_MS}-{120 * MINUTE_MS}"
# More than all tasks take, so that none is dropped, however late the worker is.
LOG = "512mb"
WRONG = ("missing", "lost", "twice", "wrong", "disordered")


def run(bench):
    found = Figures()
    tasks, others = bench.choose(*zip(TASKS, OTHERS))
    cases = {"no other key": 0, f"{others // 1_000_000}M other keys": others}
    bench.progress.section(TITLE, len(cases))
    spec = next(spec for spec in bench.specs if spec.name == OURS)
    for name, beside in cases.items():
        rows = {
            "p50_ms": found.figure(f"lag, {name}: p50", "ms"),
            "p99_ms": found.figure(f"lag, {name}: p99", "ms", at_most(3), main=True),
            "max_ms": found.figure(f"lag, {name}: longest", "ms"),
            "wrong": found.figure(f"missing, twice, wrong or out of order, {name}", "", at_most(0), main=True),
        }
        bench.progress.step(name)
        got = bench.attempt(_measure, bench, spec, tasks, beside)
        for part, row in rows.items():
            row.add(OURS, got if isinstance(got, Trouble) else got[part])
    return found


def _measure(bench, spec, tasks, others):
    with bench.start(spec) as server:
        if others:
            got = bench.client.load(server, keys=others, first=tasks, value_bytes=32, ttl_ms=OTHERS_TTL_MS)
            if isinstance(got, Trouble):
                return got
        with server.wire() as wire:
            wire.ask("CONFIG", "SET", "expire-log-size", LOG)
        spread_ms = tasks * 1000 // PER_SECOND
        got = bench.client.tasks(
            server, tasks=tasks, value_bytes=VALUE_BYTES, lead_ms=LEAD_MS, spread_ms=spread_ms
        )
    if not isinstance(got, Trouble):
        got["wrong"] = sum(got[what] for what in WRONG)
    return got

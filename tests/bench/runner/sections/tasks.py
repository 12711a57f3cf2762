"""How late delayed tasks come that are keys with a TTL and go into a stream, and a herd of them."""

from figures import OURS, Figures, Trouble, at_most

TITLE = "Delayed tasks"
ABOUT = """A million keys have a value and go into a stream at their deadlines (SET ... PX ... INTO, which only Mayfly has), with 50,000
deadlines in each second. A worker of a consumer group waits for them with XREADGROUP BLOCK and acknowledges them with XACK: how
long after its deadline each task comes, by the worker's clock, and how many tasks are missing, come twice, have a wrong value, or
come after a task with a later deadline. Alone, and beside ten million other keys with a TTL of 3 minutes to 2 hours. Then a herd:
a million tasks with deadlines within one second. The worker reads when all are in the stream; until then another client asks for
the stream's length 1,000 times a second."""
SECONDS = (220, 50)
NEEDS = "3 GiB of memory"

TASKS = (1_000_000, 100_000)
PER_SECOND = 50_000
LEAD_MS = 10_000
VALUE_BYTES = 64
OTHERS = (10_000_000, 1_000_000)
MINUTE_MS = 60_000
OTHERS_TTL_MS = f"{3 * MINUTE_MS}-{120 * MINUTE_MS}"
HERD_MS = 1000
WRONG = ("missing", "twice", "wrong", "disordered")


def run(bench):
    found = Figures()
    tasks, others = bench.choose(*zip(TASKS, OTHERS))
    cases = {"no other key": 0, f"{others // 1_000_000}M other keys": others}
    bench.progress.section(TITLE, len(cases) + 1)
    spec = next(spec for spec in bench.specs if spec.name == OURS)
    for name, beside in cases.items():
        rows = {
            "p50_ms": found.figure(f"lag, {name}: p50", "ms"),
            "p99_ms": found.figure(f"lag, {name}: p99", "ms", at_most(3), main=True),
            "max_ms": found.figure(f"lag, {name}: longest", "ms"),
            "wrong": found.figure(f"missing, twice, wrong or out of order, {name}", "", at_most(0), main=True),
        }
        bench.progress.step(name)
        spread_ms = tasks * 1000 // PER_SECOND
        _add(rows, bench.attempt(_measure, bench, spec, beside, {"tasks": tasks, "spread_ms": spread_ms}))
    # 300,000 a second, from the first deadline on.
    rows = {
        "delivered_ms": found.figure(f"herd of {tasks:,} within a second: all delivered after", "ms", at_most(tasks / 300), main=True),
        "wrong": found.figure("missing, twice, wrong or out of order, herd", "", at_most(0), main=True),
        "wait_p999_ms": found.figure("p99.9 of a 1 kHz client beside the herd", "ms", main=True),
        "wait_max_ms": found.figure("longest wait of that client", "ms"),
    }
    bench.progress.step("herd")
    _add(rows, bench.attempt(_measure, bench, spec, 0, {"tasks": tasks, "spread_ms": HERD_MS, "herd": 1}))
    return found


def _add(rows, got):
    for part, row in rows.items():
        row.add(OURS, got if isinstance(got, Trouble) else got[part])


def _measure(bench, spec, others, options):
    with bench.start(spec) as server:
        if others:
            got = bench.client.load(server, keys=others, first=options["tasks"], value_bytes=32, ttl_ms=OTHERS_TTL_MS)
            if isinstance(got, Trouble):
                return got
        got = bench.client.tasks(server, value_bytes=VALUE_BYTES, lead_ms=LEAD_MS, **options)
    if not isinstance(got, Trouble):
        got["wrong"] = sum(got[what] for what in WRONG)
    return got

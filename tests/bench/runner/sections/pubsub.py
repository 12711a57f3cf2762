"""Server CPU per message that is delivered to a subscriber."""

from figures import Figures, Trouble, times_better

TITLE = "Deliveries"
ABOUT = """A client publishes messages of 64 bytes, 1 or 16 at once, and waits until all subscribers have the messages: user and system
time of the server's process per delivery, publishing included. First 100 subscribers of a single channel. Then 100 subscribers
with 1,000 patterns in all; each message matches one pattern, with the wildcard at the end or at the beginning. A single message
is a system call for each subscriber, at the same cost for every server; the user time shows the server's own code."""
SECONDS = (280, 30)
NEEDS = ""

SUBSCRIBERS = 100
PATTERNS = 1000
VALUE_BYTES = 64
# name, options, deliveries of one measurement.
CASES = (
    ("1 to 100, one message at once", {"depth": 1}, 400_000),
    ("1 to 100, 16 messages at once", {"depth": 16}, 3_200_000),
    ("1,000 patterns 'x*', 16 messages at once", {"depth": 16, "patterns": PATTERNS}, 64_000),
    ("1,000 patterns '*x', 16 messages at once", {"depth": 16, "patterns": PATTERNS, "suffixes": 1}, 64_000),
)
PARTS = {"cpu_us": "", "user_us": ": user time"}


def run(bench):
    rounds = bench.choose(5, 1)
    found = Figures()
    rows = {}
    for name, _, _ in CASES:
        for part in PARTS:
            rows[name, part] = found.figure(f"delivery, {name}{PARTS[part]}", "µs", times_better(2, "redis"), main=True)
    bench.progress.section(TITLE, rounds * len(CASES) * len(bench.specs))
    with bench.all_servers(rows.values()) as servers:
        for turn in range(rounds):
            for name, options, deliveries in CASES:
                for server in bench.rotated(servers, turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, {name}, {server.name}")
                    got = _measure(bench, server, options, bench.choose(deliveries, deliveries // 8))
                    for part in PARTS:
                        rows[name, part].add(server.name, got if isinstance(got, Trouble) else got[part])
    return found


def _measure(bench, server, options, deliveries):
    receivers = 1 if "patterns" in options else SUBSCRIBERS
    load = {"subscribers": SUBSCRIBERS, "value_bytes": VALUE_BYTES, "messages": deliveries // receivers, **options}
    return bench.attempt(lambda: bench.client.deliver(server, **load))

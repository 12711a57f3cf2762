"""Server CPU per request at pipeline depths 1, 16 and 64."""

from figures import BARE, Figures, times_better, within

TITLE = "Server CPU per request"
ABOUT = """User and system time of the server's process per request: GET hit, SET and SET EX at pipeline depths 1, 16 and 64, with 50
connections, 1M random keys of 14 bytes and values of 64. The bare server is libuv with a constant reply and no look-up: the
cost of the kernel and libuv alone."""
SECONDS = (200, 15)
NEEDS = ""

CONNECTIONS = 50
VALUE_BYTES = 64
# Depth -> requests of one measurement. With fewer requests than keys, many of the keys would still be in the
# processor's caches from the round before.
REQUESTS = {1: 100_000, 16: 1_000_000, 64: 2_000_000}
TARGETS = {
    ("get", 64): times_better(6.5, "redis"),
    ("get", 16): times_better(4.2, "redis"),
    ("get", 1): within(1.15, BARE),
    ("set", 64): times_better(6.5, "redis"),
    ("set", 16): times_better(4, "redis"),
    ("setex", 64): times_better(8, "redis"),
    ("setex", 16): times_better(6, "redis"),
}
NAMES = {"get": "GET hit", "set": "SET", "setex": "SET EX"}
FRONT = (("get", 64), ("get", 1), ("setex", 64))


def run(bench):
    rounds = bench.choose(5, 1)
    keys = bench.choose(1_000_000, 100_000)
    found = Figures()
    rows = {}
    for command in NAMES:
        for depth in (64, 16, 1):
            name = f"{NAMES[command]}, pipeline {depth}"
            front = f"CPU time per {name}" if (command, depth) in FRONT else ""
            rows[command, depth] = found.figure(name, "µs", TARGETS.get((command, depth)), main=True, front=front)
    bench.progress.section(TITLE, len(bench.specs) * (1 + rounds * len(rows)) + rounds * 3)
    with bench.all_servers(rows.values(), bare=True) as servers:
        servers = [s for s in servers if s.name == BARE or _filled(bench, s, keys, rows.values())]
        for turn in range(rounds):
            for (command, depth), row in rows.items():
                for server in bench.rotated(servers, turn):
                    if server.name == BARE and command != "get":
                        continue
                    bench.progress.step(f"round {turn + 1} of {rounds}, {row.name}, {server.name}")
                    requests = bench.choose(REQUESTS[depth], REQUESTS[depth] // 8)
                    load = {"connections": CONNECTIONS, "depth": depth, "requests": requests}
                    bench.ask_into(row, server, command=command, keys=keys, value_bytes=VALUE_BYTES, **load)
    return found


def _filled(bench, server, keys, rows):
    bench.progress.step(f"inserting {keys:,} keys, {server.name}")
    return bench.fill(server, rows, keys=keys, value_bytes=VALUE_BYTES)

"""How the cost of a request grows with keys, connections and sizes of values."""

from figures import OURS, Figures, at_most

TITLE = "Growth of cost"
ABOUT = """Server CPU per GET hit at pipeline 64 with 100k, 1M and 10M keys and values of 64 bytes; per GET hit at pipeline 1 over 1, 50,
1,000 and 10,000 connections; per GET hit and SET with values of 16 B to 1 MB (50 connections; pipeline 16 for values up to
4 KB, else 1)."""
SECONDS = (275, 17)
NEEDS = "7 GiB of memory and 10,200 open files"

VALUE_BYTES = 64
VALUE_SIZES = {
    16: "16 B",
    256: "256 B",
    4096: "4 KB",
    16384: "16 KB",
    65536: "64 KB",
    262144: "256 KB",
    1048576: "1 MB",
}
# So large that copying their bytes counts for more than the server's own work.
SHOWN_FROM = 16384
# All values of one size together, at most.
VALUES_TOTAL = 128 * 2**20


def run(bench):
    found = Figures()
    key_counts = bench.choose((100_000, 1_000_000, 10_000_000), (10_000, 100_000))
    connections = bench.choose((1, 50, 1_000, 10_000), (1, 50, 1_000))
    sizes = bench.choose(tuple(VALUE_SIZES), (16, 4096, 65536))
    rounds = bench.choose(3, 1)
    steps = len(bench.specs) * (len(key_counts) * (1 + rounds) + rounds * (len(connections) + 2 * len(sizes)))
    bench.progress.section(TITLE, steps)
    _keys(bench, found, key_counts, rounds)
    _connections(bench, found, connections, rounds)
    _values(bench, found, sizes, rounds)
    return found


def _keys(bench, found, counts, rounds):
    """Each server grows from one count to the next, so that no key is inserted twice."""
    most = max(counts)
    rows = {n: found.figure(f"GET hit, pipeline 64, {n:,} keys", "µs", main=True) for n in counts}
    growth = found.figure(f"{most:,} keys / {min(counts):,} keys", "times", at_most(1.5))
    too_many = bench.lack_of_memory(450 * most * len(bench.specs) // 2, f"{most:,} keys in each server")
    if too_many:
        rows.pop(most).add(OURS, too_many)
        growth.add(OURS, too_many)
    with bench.all_servers(rows.values()) as servers:
        held = 0
        for count, row in rows.items():
            for server in servers:
                bench.progress.step(f"inserting up to {count:,} keys, {server.name}")
                bench.fill(server, [row], keys=count - held, first=held, value_bytes=VALUE_BYTES)
            held = count
            for turn in range(rounds):
                for server in bench.rotated(servers, turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, {row.name}, {server.name}")
                    ask = {"command": "get", "connections": 50, "depth": 64, "keys": count}
                    bench.ask_into(row, server, requests=bench.choose(2_000_000, 200_000), **ask)
    for column in [] if too_many else _complete_columns(rows):
        growth.add(column, rows[most].value(column) / rows[min(counts)].value(column))


def _complete_columns(rows):
    """The columns that have a number in each row."""
    return [c for c in next(iter(rows.values())).columns() if all(r.value(c) for r in rows.values())]


def _connections(bench, found, counts, rounds):
    rows = {n: found.figure(f"GET hit, pipeline 1, {n:,} connection{'s' if n > 1 else ''}", "µs") for n in counts}
    with bench.all_servers(rows.values()) as servers:
        servers = [s for s in servers if bench.fill(s, rows.values(), keys=100_000, value_bytes=VALUE_BYTES)]
        for turn in range(rounds):
            for count, row in rows.items():
                for server in bench.rotated(servers, turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, {row.name}, {server.name}")
                    lack = bench.lack_of_files(count)
                    if lack:
                        row.add(server.name, lack)
                        continue
                    requests = max(bench.choose(100_000, 20_000) // (4 if count == 1 else 1), 4 * count)
                    ask = {"command": "get", "depth": 1, "keys": 100_000, "value_bytes": VALUE_BYTES}
                    bench.ask_into(row, server, connections=count, requests=requests, **ask)


def _values(bench, found, sizes, rounds):
    rows = {}
    for command in ("get", "set"):
        for size in sizes:
            depth = 16 if size <= 4096 else 1
            name = f"{command.upper()}, values of {VALUE_SIZES[size]}, pipeline {depth}"
            rows[command, size, depth] = found.figure(name, "µs", main=size >= SHOWN_FROM)
    for size in sizes:
        mine = {k: r for k, r in rows.items() if k[1] == size}
        keys = min(100_000, VALUES_TOTAL // size)
        with bench.all_servers(mine.values()) as servers:
            servers = [s for s in servers if bench.fill(s, mine.values(), keys=keys, value_bytes=size)]
            for turn in range(rounds):
                for (command, _, depth), row in mine.items():
                    for server in bench.rotated(servers, turn):
                        bench.progress.step(f"round {turn + 1} of {rounds}, {row.name}, {server.name}")
                        requests = max(200, min(bench.choose(400_000, 50_000), bench.choose(2**30, 2**28) // size))
                        requests = min(requests, 60_000) if depth == 1 else requests
                        load = {"connections": 50, "depth": depth, "requests": requests}
                        bench.ask_into(row, server, command=command, keys=keys, value_bytes=size, **load)

"""The shape of a public comparison of caches: all SETs, then all GETs, over a unix socket."""

import os
import shutil

from figures import OURS, Figures, Trouble
from peers import newer_redis
from servers import Server, ServerFailed, Spec
from table import columns_of, number

TITLE = "SETs, then GETs, over a unix socket"
ABOUT = """The shape of a public comparison, on a single core: 256 connections over a unix socket, values of 1 to 1,024 bytes, pipelines of
1, 10, 25 and 50, and a warm-up of SETs. A run is all SETs and then all GETs, each of which is a hit; medians of 31 short runs. The
client does what memtier_benchmark does with --key-pattern P:P. The time of a request is that of the whole run divided by its requests;
the client has one core, and may be the slower side. The processor time is the server's alone. memcached speaks its text protocol."""
SECONDS = (850, 90)
NEEDS = ""

FRONT = "shootout"
CONNECTIONS = 256
VALUE_BYTES = "1-1024"
# Of each connection.
KEYS = 1000
# Pipeline -> requests of each connection in a run.
DEPTHS = {1: 200, 10: 600, 25: 1000, 50: 1200}
COMMANDS = ("SET", "GET")
MEMCACHED = "memcached"
PARTS = {
    "wall_us": ("time a request", "µs"),
    "mean_us": ("wait, mean", "µs"),
    "p50_us": ("wait, p50", "µs"),
    "p90_us": ("wait, p90", "µs"),
    "p99_us": ("wait, p99", "µs"),
    "p999_us": ("wait, p99.9", "µs"),
    "p9999_us": ("wait, p99.99", "µs"),
    "cpu_us": ("server's processor time a request", "µs"),
    "client_us": ("client's processor time a request", "µs"),
}
MAIN = ("wall_us", "mean_us", "p50_us", "p99_us", "p9999_us", "cpu_us")


class _Memcached(Server):
    def __init__(self, spec, folder, processor, path):
        self._path = path
        super().__init__(spec, folder, processor)

    def _answers(self):
        return os.path.exists(self._path)


def run(bench):
    rounds = bench.rounds or bench.choose(31, 3)
    found = Figures()
    rows = {
        (command, depth): {
            part: found.figure(f"{command}, pipeline {depth}: {name}", unit, main=part in MAIN) for part, (name, unit) in PARTS.items()
        }
        for depth in DEPTHS
        for command in COMMANDS
    }
    specs = [*bench.specs, *newer_redis(bench)]
    names = [spec.name for spec in specs] + [MEMCACHED] * bool(shutil.which(MEMCACHED))
    bench.progress.section(TITLE, rounds * len(DEPTHS) * len(names))
    commands = {spec.name: spec.command for spec in specs}
    # One server at a time within a round, all of them up: a fresh one for each run would measure its start.
    running = {}
    try:
        for name in names:
            got = bench.attempt(_start, bench, name, commands.get(name))
            if isinstance(got, Trouble):
                for parts in rows.values():
                    for row in parts.values():
                        row.add(name, got)
            else:
                running[name] = got
        for turn in range(rounds):
            for depth in DEPTHS:
                for name in bench.rotated(list(running), turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, pipeline {depth}, {name}")
                    for command in COMMANDS:
                        _add(rows[command, depth], name, bench.attempt(_measure, bench, *running[name], command, depth))
    finally:
        for server, _ in running.values():
            server.stop()
    return found


def _start(bench, name, command):
    """A server that holds all keys, and the path of its socket."""
    path = os.path.join(bench.folder, f"{name.replace(' ', '-')}.sock")
    if command is None:
        user = "-u root" if os.geteuid() == 0 else ""
        spec = Spec(name, f"{MEMCACHED} -s {path} -t 1 -m 1024 {user}")
        server = _Memcached(spec, bench.folder, bench.server_processor, path)
    else:
        server = bench.start(Spec(name, f"{command} --unixsocket {path}"))
    try:
        warm = bench.client.volley(server, path, **_load(name, "SET", 10) | {"requests": KEYS})
        if isinstance(warm, Trouble):
            raise ServerFailed(warm.text)
    except BaseException:
        server.stop()
        raise
    return server, path


def _load(name, command, depth):
    return {
        "command": command.lower(),
        "connections": CONNECTIONS,
        "depth": depth,
        "requests": DEPTHS[depth],
        "keys": KEYS,
        "value_bytes": VALUE_BYTES,
        "memcached": int(name == MEMCACHED),
    }


def _measure(bench, server, path, command, depth):
    got = bench.client.volley(server, path, **_load(server.name, command, depth))
    if isinstance(got, Trouble):
        return got
    if command == "GET" and server.name != MEMCACHED and got["hits"] != got["requests"]:
        return Trouble(f"{got['hits']:,} of {got['requests']:,} were hits")
    got["wall_us"] = got["seconds"] / got["requests"] * 1e6
    got["client_us"] = got["client_cpu_s"] / got["requests"] * 1e6
    return got


def _add(rows, column, got):
    for part, row in rows.items():
        row.add(column, got if isinstance(got, Trouble) else got[part])


def front_text(figures):
    """The table of docs/benchmarks.md: thousands of requests a second, and the server's processor time."""
    by_name = {figure.name: figure for figure in figures}
    columns = [OURS, *(c for c in columns_of(figures) if c != OURS)]
    rounds = max((len(samples) for figure in figures for samples in figure.samples.values()), default=0)
    lines = ["| | " + " | ".join(c.capitalize() for c in columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for command in COMMANDS:
        for depth in DEPTHS:
            cells = []
            for column in columns:
                value = {part: by_name[f"{command}, pipeline {depth}: {PARTS[part][0]}"].value(column) for part in PARTS}
                if value["wall_us"] is None:
                    cells.append("-")
                    continue
                waits = " / ".join(number(value[part]) for part in ("mean_us", "p50_us", "p99_us", "p9999_us"))
                cells.append(f"{1000 / value['wall_us']:,.0f}k; {waits} µs; {number(value['cpu_us'])} µs")
            lines.append(f"| {command}, pipeline {depth} | " + " | ".join(cells) + " |")
    return "\n".join([f"Median of {rounds} runs:", "", *lines])

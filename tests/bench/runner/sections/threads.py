"""Requests a second and processor time of servers that read and write on several threads."""

from bench import CannotRun
from figures import OURS, Figures, Trouble
from peers import newer_redis, ours_first
from servers import Spec
from table import columns_of, number

TITLE = "I/O threads"
ABOUT = """Redis 8 and Valkey with io-threads 1, 2 and 4, and Mayfly, which has a single thread: GET, and a tenth of the requests SET,
of 100,000 keys with values of 64 bytes, over 50 and 200 connections, without pipelining and with a pipeline of 16. A run takes 2 s,
and the time of a request is the run's divided by its requests; the processor time is that of all threads of the server's process,
user and system. Here all servers may use both processors. The client is a single thread on the second of them, which it shares with
the server's threads. One server runs at a time, started anew for each round; medians of 7 rounds."""
SECONDS = (480, 20)
NEEDS = "two processors"

FRONT = "threads"
KEYS = 100_000
VALUE_BYTES = 64
FORMS = " ; ".join(["GET k:{k}"] * 9 + [f"SET k:{{k}} {'v' * VALUE_BYTES}"])
# With less, GETs were misses: the turn of the forms is not exact at the end of a run.
HITS_LEAST = 0.89
CONNECTIONS = (50, 200)
DEPTHS = (1, 16)
# Of a run, and with --quick. A time and not a number of requests: threads that spin for the same processors may take a hundred times as long.
RUN_S = (2, 0.5)
THREADS = (1, 2, 4)
PARTS = {
    "wall_us": "time a request",
    "cpu_us": "server's processor time a request",
    "client_us": "client's processor time a request",
}


def run(bench):
    if bench.server_processor is None:
        raise CannotRun("needs two processors")
    rounds = bench.rounds or bench.choose(7, 1)
    found = Figures()
    rows = {case: {part: found.figure(_name(*case, part), "µs") for part in PARTS} for case in _cases()}
    servers = _servers(bench)
    bench.progress.section(TITLE, rounds * len(servers) * len(rows))
    for turn in range(rounds):
        for spec, threads in bench.rotated(servers, turn):
            got = bench.attempt(_measure_all, bench, spec, threads, rows, f"round {turn + 1} of {rounds}")
            if isinstance(got, Trouble):
                for case in rows:
                    _add(rows[case], spec.name, got)
    return found


def _cases():
    return [(depth, connections) for depth in DEPTHS for connections in CONNECTIONS]


def _name(depth, connections, part):
    return f"pipeline {depth}, {connections} connections: {PARTS[part]}"


def _servers(bench):
    """[(server, its io-threads or None)]"""
    ours, others = ours_first(bench)
    threaded = [*newer_redis(bench), *(spec for spec in others if spec.name == "valkey")]
    given = [spec for spec in others if spec.name not in ("redis", "valkey")]
    found = [(spec, None) for spec in ours]
    for spec in threaded:
        found += [(Spec(_column(spec.name, n), f"{spec.command} --io-threads {n}"), n) for n in THREADS]
    return found + [(spec, None) for spec in given]


def _column(name, threads):
    return f"{name}, io-threads {threads}"


def _measure_all(bench, spec, threads, rows, where):
    """Adds a figure of each case; None, or the Trouble of all cases."""
    with bench.start(spec, {bench.server_processor, bench.client_processor}) as server:
        if threads is not None:
            with server.wire() as wire:
                has = wire.ask("CONFIG", "GET", "io-threads")
            if has != ["io-threads", str(threads)]:
                return Trouble(f"has no {threads} io-threads: {has}")
        filled = bench.client.load(server, keys=KEYS, value_bytes=VALUE_BYTES)
        if isinstance(filled, Trouble):
            return filled
        for depth, connections in rows:
            bench.progress.step(f"{where}, pipeline {depth}, {connections} connections, {spec.name}")
            _add(rows[depth, connections], spec.name, bench.attempt(_measure, bench, server, depth, connections))
    return None


def _measure(bench, server, depth, connections):
    got = bench.client.ask(server, request=FORMS, connections=connections, depth=depth, seconds=bench.choose(*RUN_S), keys=KEYS)
    if isinstance(got, Trouble):
        return got
    if got["hits"] < HITS_LEAST * got["requests"]:
        return Trouble(f"{got['hits']:,} hits in {got['requests']:,} requests")
    got["wall_us"] = got["seconds"] / got["requests"] * 1e6
    return got


def _add(rows, column, got):
    for part, row in rows.items():
        row.add(column, got if isinstance(got, Trouble) else got[part])


# The section of docs/benchmarks.md. It is written as a whole, so that the page says nothing of it before it was measured.
PAGE = """## I/O threads

Redis 8 and Valkey read requests and write replies on `io-threads` if they have more than one; commands run on one thread. Mayfly has a single
thread for all. What do the threads bring on two processors, and what do they cost? GET, and a tenth of the requests SET, of {keys:,} keys with
values of {bytes} bytes. Medians of {rounds} rounds of {seconds} s.

{tables}

{compared}

- *Processor time* is that of all threads of the server's process, user and system. A thread that spins while it waits for work counts.
- *Busy* is how many processors the server and the client used, of two. If the sum is near 2, both are full: one more thread can only take time
  from the others. If the client's part is near 1, the client is the limit.
- All servers of this section may use both processors, also those with a single thread. The client has one thread, is bound to the second
  processor, and shares it with the server's threads. The kernel decides where these run.
- One server runs at a time, and starts anew for each round: no idle thread of another one takes processor time.
- `mayfly --shards 2` has no row. It is two daemons on two ports, and the client of this section talks to one port.
- With more processors, threads may bring more than here. That was not measured.

Repeat these tables with `scripts/bench --sections threads --readme`."""
HEADINGS = {1: "Without pipelining", 16: "Pipeline of 16"}


def front_text(figures):
    """The section of docs/benchmarks.md, with its heading."""
    by_name = {figure.name: figure for figure in figures}
    values = {
        column: {case: {part: by_name[_name(*case, part)].value(column) for part in PARTS} for case in _cases()}
        for column in [OURS, *(c for c in columns_of(figures) if c != OURS)]
    }
    rounds = max((len(samples) for figure in figures for samples in figure.samples.values()), default=0)
    tables = "\n\n".join(f"{HEADINGS[depth]}:\n\n{_table(values, depth)}" for depth in DEPTHS)
    return PAGE.format(keys=KEYS, bytes=VALUE_BYTES, rounds=rounds, seconds=RUN_S[0], tables=tables, compared=_compared(values))


def _table(values, depth):
    heads = ["thousands of requests a second", "processor time a request", "busy, server + client"]
    cells = [f"{connections} connections: {head}" for connections in CONNECTIONS for head in heads]
    lines = ["| | " + " | ".join(cells) + " |", "|---" + "|---:" * len(cells) + "|"]
    for column, cases in values.items():
        cells = [cell for connections in CONNECTIONS for cell in _cells(cases[depth, connections])]
        lines.append(f"| {_title(column)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _title(column):
    name, comma, threads = column.partition(", io-threads ")
    return f"{name.capitalize()}, `io-threads {threads}`" if comma else name.capitalize()


def _cells(value):
    if None in value.values():
        return ["-"] * 3
    busy = (value["cpu_us"] / value["wall_us"], value["client_us"] / value["wall_us"])
    return [f"{1000 / value['wall_us']:,.0f}", f"{number(value['cpu_us'])} µs", " + ".join(f"{share:.2f}" for share in busy)]


def _compared(values):
    """A table of what the threads bring and cost: each server with several, times the same server with one."""
    lines = ["Times the same server with `io-threads 1`, least to most of the four cases:", ""]
    lines += ["| | requests a second | processor time a request |", "|---|---:|---:|"]
    for column, cases in values.items():
        name, comma, threads = column.partition(", io-threads ")
        one = values.get(_column(name, 1))
        if not comma or threads == "1" or one is None:
            continue
        gains = [_times(one[case]["wall_us"], value["wall_us"]) for case, value in cases.items()]
        prices = [_times(value["cpu_us"], one[case]["cpu_us"]) for case, value in cases.items()]
        lines.append(f"| {_title(column)} | {_range(gains)} | {_range(prices)} |")
    return "\n".join(lines)


def _times(value, of):
    return None if value is None or not of else value / of


def _range(values):
    return "-" if None in values else f"{min(values):.2f} to {max(values):.2f}"

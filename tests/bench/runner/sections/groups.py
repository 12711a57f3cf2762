"""Consumer groups of streams: server CPU of a delivery, bytes of a pending entry, commands among a million of them."""

import itertools

from figures import BARE, Figures, Trouble, at_most, within

TITLE = "Consumer groups"
ABOUT = """A stream of entries with a field of 64 bytes, and one consumer. XREADGROUP of ten entries, and XACK of these, at pipeline 16: user
and system time of the server's process per pair, less the bare server in the same run (the kernel and libuv). Then a million entries
are delivered and not acknowledged: resident bytes of each, and the time that the server needs for a command among them."""
SECONDS = (120, 15)
NEEDS = "1 GiB of memory"

PAIRS = 8  # in a pipeline of 16
AT_ONCE = 10
VALUE = "v" * 64
SLICE_US = 500


def encoded(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def id_of(number):
    return f"{number + 1}-0"


# Among a million: of every second entry, so that nothing is found at the end.
COMMANDS = {
    "XACK of one": lambda n: encoded("XACK", "s", "g", id_of(2 * n + 1)),
    "XPENDING, the summary": lambda n: encoded("XPENDING", "s", "g"),
    "XAUTOCLAIM COUNT 100": lambda n: encoded("XAUTOCLAIM", "s", "g", "other", 0, id_of(200 * n), "COUNT", 100),
}


def run(bench):
    rounds = bench.choose(5, 1)
    entries = bench.choose(1_000_000, 100_000)
    found = Figures()
    pair = found.figure("XREADGROUP and XACK of ten, pipeline 16", "µs", within(1 / 3, "redis"), main=True)
    size = found.figure("a pending entry", "B", within(0.5, "redis"), main=True)
    rows = {name: found.figure(f"{name}, a million pending", "µs", at_most(SLICE_US), main=True) for name in COMMANDS}
    bench.progress.section(TITLE, (1 + rounds) * (len(bench.specs) + 1) + 2 * len(bench.specs))
    with bench.all_servers([pair], bare=True) as servers:
        for server in servers:
            bench.progress.step(f"adding entries, {server.name}")
            bench.attempt(_fill, server, entries // 5)
        for turn in range(rounds):
            floor = 0
            # The bare server comes first: the others' times are less by its.
            ordered = sorted(bench.rotated(servers, turn), key=lambda server: server.name != BARE)
            for server in ordered:
                bench.progress.step(f"round {turn + 1} of {rounds}, {server.name}")
                got = bench.attempt(_deliver, server, turn, entries // 5 // rounds)
                if server.name == BARE:
                    floor = 0 if isinstance(got, Trouble) else got
                else:
                    pair.add(server.name, got if isinstance(got, Trouble) else max(got - floor, 0))
    for spec in bench.specs:
        bench.progress.step(f"a million pending, {spec.name}")
        with bench.start(spec) as server:
            got = bench.attempt(_among_many, server, entries)
        for name, row in {"bytes": size, **rows}.items():
            row.add(spec.name, got if isinstance(got, Trouble) else got[name])
    return found


def _send(wire, requests, at_once=256):
    """Sends the requests in pipelines; returns the replies to the last ones. Raises ErrorReply."""
    replies = []
    requests = iter(requests)
    while batch := list(itertools.islice(requests, at_once)):
        replies = wire.pipeline(b"".join(batch), len(batch))
    return replies


def _fill(server, entries):
    with server.wire() as wire:
        _send(wire, (encoded("XADD", "s", id_of(number), "f", VALUE) for number in range(entries)))
        wire.pipeline(encoded("XGROUP", "CREATE", "s", "g", "0"), 1)


def _deliver(server, turn, entries):
    """CPU microseconds for the delivery and the acknowledgement of ten."""
    begin = turn * entries
    pairs = []
    for first in range(begin, begin + entries, AT_ONCE):
        pairs.append(encoded("XREADGROUP", "GROUP", "g", "c", "COUNT", AT_ONCE, "STREAMS", "s", ">"))
        pairs.append(encoded("XACK", "s", "g", *(id_of(first + n) for n in range(AT_ONCE))))
    with server.wire() as wire:
        before = server.cpu_s()
        replies = _send(wire, pairs, 2 * PAIRS)
        used = server.cpu_s() - before
    if server.name != BARE and replies[-1] != AT_ONCE:
        return Trouble(f"XACK answered {replies[-1]}")
    return used * 1e6 / (len(pairs) // 2)


def _among_many(server, entries):
    """Bytes of a pending entry, and CPU microseconds of each command."""
    _fill(server, entries)
    before = server.settled_bytes()
    read = encoded("XREADGROUP", "GROUP", "g", "c", "COUNT", 100, "STREAMS", "s", ">")
    calls = 100
    with server.wire() as wire:
        _send(wire, (read for _ in range(entries // 100)), 16)
        got = {"bytes": (server.settled_bytes() - before) / entries}
        for name, request in COMMANDS.items():
            began = server.cpu_s()
            for number in range(calls):
                wire.pipeline(request(number), 1)
            got[name] = (server.cpu_s() - began) * 1e6 / calls
    return got

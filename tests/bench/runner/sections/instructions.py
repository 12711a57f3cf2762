"""User-space instructions per request, counted by callgrind."""

import contextlib
import glob
import os
import re
import shutil
import subprocess

from bench import CannotRun
from figures import Figures, Trouble, at_most
from servers import ServerFailed

TITLE = "Instructions per request"
ABOUT = """User-space instructions of the server for a GET hit and a SET EX at pipeline depths 32 and 1, counted by callgrind: one
connection, 10,000 keys, values of 64 bytes. The figure is the difference between a run of 2n and a run of n requests, without
the cost of connecting, and the lesser of two counts. A busy machine does not change these counts. Then the same beside other
clients: a subscriber, a client with CLIENT TRACKING, and a client with a watched key and an open transaction."""
SECONDS = (125, 90)
NEEDS = "valgrind"

KEYS = 10_000
VALUE_BYTES = 64
# SET EX is counted with keys that have a TTL already, as they are after its first round.
TTL_MS = {"get": "0", "setex": "3600000"}
REQUESTS = {32: 19_200, 1: 4_000}
BESIDE_DEPTH = 32
READY_S = 60
NAMES = {"get": "GET hit", "setex": "SET EX"}
TARGETS = {("get", 32): at_most(600), ("setex", 32): at_most(900)}


def need_valgrind():
    if not shutil.which("valgrind") or not shutil.which("callgrind_control"):
        raise CannotRun("valgrind is missing")


def run(bench):
    need_valgrind()
    found = Figures()
    rows = {}
    for command in NAMES:
        for depth in REQUESTS:
            name = f"{NAMES[command]}, pipeline {depth}"
            rows[command, depth, False] = found.figure(name, "instr.", TARGETS.get((command, depth)), main=depth == 32)
    for command, name in NAMES.items():
        name = f"{name} beside others, pipeline {BESIDE_DEPTH}"
        rows[command, BESIDE_DEPTH, True] = found.figure(name, "instr.", TARGETS.get((command, BESIDE_DEPTH)), main=True)
    bench.progress.section(TITLE, len(bench.specs) * (1 + len(rows)))
    for spec in bench.specs:
        bench.progress.step(f"inserting, {spec.name}")
        failed = bench.attempt(_measure, bench, spec, rows)
        for row in rows.values() if failed else ():
            row.add(spec.name, failed)
    return found


@contextlib.contextmanager
def counted(bench, spec):
    """A server whose instructions are counted, and where they are written."""
    counts = os.path.join(bench.folder, f"callgrind.{spec.name}")
    # Other servers are started by a script (scripts/suite/peers.py), which becomes the server.
    wrapper = ("valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={counts}")
    with bench.start(spec, wrapper=wrapper, ready_s=READY_S) as server:
        yield server, counts


def _measure(bench, spec, rows):
    with counted(bench, spec) as (server, counts):
        for command in NAMES:
            filled = bench.client.load(server, keys=KEYS, value_bytes=VALUE_BYTES, ttl_ms=TTL_MS[command])
            _measure_command(bench, server, counts, command, filled, rows)


def _measure_command(bench, server, counts, command, filled, rows):
    for (named, depth, beside), row in rows.items():
        if named == command:
            bench.progress.step(f"{row.name}, {server.name}")
            if isinstance(filled, Trouble):
                row.add(server.name, filled)
                continue
            with _others(server) if beside else contextlib.nullcontext():
                row.add(server.name, _count(bench, server, counts, command, depth))


@contextlib.contextmanager
def _others(server):
    """Clients of features that other clients' commands might pay for. They use other keys than the load."""
    with server.wire() as subscriber, server.wire() as cache, server.wire() as transaction:
        subscriber_id = subscriber.ask("CLIENT", "ID")
        subscriber.ask("SUBSCRIBE", "__redis__:invalidate", "news")
        cache.ask("CLIENT", "TRACKING", "ON", "REDIRECT", subscriber_id)
        cache.ask("SET", "cached", "value")
        cache.ask("GET", "cached")
        transaction.ask("WATCH", "watched")
        transaction.ask("MULTI")
        transaction.ask("GET", "watched")
        yield


def _count(bench, server, counts, command, depth):
    return per_request(bench, server, counts, REQUESTS[depth], command=command, depth=depth, keys=KEYS, value_bytes=VALUE_BYTES)


def per_request(bench, server, counts, n, **options):
    """Instructions per request, of about 6 n requests of Client.ask; or a Trouble."""
    totals = []
    for requests in (n // 4, n, 2 * n, n, 2 * n):
        # The first run only warms up.
        _taken(server, counts)
        got = bench.client.ask(server, connections=1, requests=requests, **options)
        if isinstance(got, Trouble):
            return got
        totals.append(_taken(server, counts))
    # The lesser of two: deadlines that lie far ahead are filed anew now and then, which is no request's work.
    return min(totals[2] - totals[1], totals[4] - totals[3]) / n


def _taken(server, counts):
    """Instructions since the last call."""
    dump = ["callgrind_control", "--dump", str(server.pid)]
    done = subprocess.run(dump, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    files = glob.glob(counts + ".*")
    if not files:
        raise ServerFailed(f"callgrind gives no counts: {done.stdout.decode(errors='replace').strip()}")
    total = 0
    for name in files:
        with open(name, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)
        total += int(found[1]) if found else 0
        os.unlink(name)
    return total

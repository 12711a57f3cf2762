"""What being a part of a cluster costs, and what a second daemon on a second processor brings."""

import concurrent.futures
import os

from figures import OURS, Figures, Trouble, at_most
from servers import Server, Spec, free_port

TITLE = "Parts of a cluster"
ABOUT = """GET hits of 50 connections, one at a time, of one daemon that is no part of a cluster, of the same as a part of one (all
keys in its slots), and of two parts at once, each on a processor of its own with clients of its own: the server's CPU per request,
and how many times that of one daemon alone. Two daemons that do not disturb each other cost what one costs, and so serve twice as
much; at 1.11 times the cost they serve 1.8 times as much. The clients share the processors with them."""
SECONDS = (60, 10)
NEEDS = ""

CONNECTIONS = 50
KEYS = 100_000
VALUE = "v" * 64
REQUESTS = 100_000
TAGS = ("b", "a")  # slots 3300 and 15495: one in each half
PARTS = ("0-8191", "8192-16383")


def run(bench):
    rounds = bench.choose(5, 1)
    found = Figures()
    rows = {
        "alone": found.figure("GET hit, pipeline 1, no cluster", "µs"),
        "part": found.figure("GET hit, pipeline 1, part of a cluster", "µs", main=True),
        "two": found.figure("GET hit, pipeline 1, one of two parts at work", "µs"),
    }
    costs = found.figure("a part of a cluster, times no cluster", "×", at_most(1.11), main=True)
    beside = found.figure("one of two parts at work, times one alone", "×", at_most(1.11), main=True)
    bench.progress.section(TITLE, 1 + 2 * rounds)
    got = bench.attempt(_measure, bench, rounds, rows, costs, beside)
    for row in (*rows.values(), costs, beside) if isinstance(got, Trouble) else ():
        row.add(OURS, got)
    return found


def _measure(bench, rounds, rows, costs, beside):
    """None, or a Trouble."""
    spec = next(spec for spec in bench.specs if spec.name == OURS)
    ports = [free_port() for _ in PARTS]
    path = os.path.join(bench.folder, "shards.conf")
    with open(path, "w", encoding="ascii") as file:
        for number, (port, slots) in enumerate(zip(ports, PARTS)):
            file.write(f"node part-{number} 127.0.0.1:{port} {slots}\n")
    options = f"--cluster-enabled yes --cluster-config-file {path} --cluster-announce-human-nodename part-"
    specs = [Spec(f"part-{number}", f"{spec.command} {options}{number}") for number in range(len(PARTS))]
    bench.progress.step("inserting")
    with (
        bench.start(spec) as alone,
        bench.start(specs[0], port=ports[0]) as first,
        Server(specs[1], bench.folder, bench.client_processor, port=ports[1]) as second,
    ):
        for server, tag in ((alone, TAGS[0]), (first, TAGS[0]), (second, TAGS[1])):
            request = f"SET {{{tag}}}:{{k}} {VALUE}"
            filled = bench.client.load(server, request=request, keys=KEYS, members=1)
            if isinstance(filled, Trouble):
                return filled
        for turn in range(rounds):
            bench.progress.step(f"round {turn + 1} of {rounds}, one")
            one = {}
            for name, server in bench.rotated([("alone", alone), ("part", first)], turn):
                one[name] = _cpu_us(bench, server, TAGS[0])
            bench.progress.step(f"round {turn + 1} of {rounds}, two")
            with concurrent.futures.ThreadPoolExecutor(len(PARTS)) as pool:
                both = list(pool.map(lambda pair: _cpu_us(bench, *pair), zip((first, second), TAGS)))
            for trouble in (*one.values(), *both):
                if isinstance(trouble, Trouble):
                    return trouble
            rows["alone"].add(OURS, one["alone"])
            rows["part"].add(OURS, one["part"])
            rows["two"].add(OURS, sum(both) / len(both))
            costs.add(OURS, one["part"] / one["alone"])
            beside.add(OURS, sum(both) / len(both) / one["part"])
    return None


def _cpu_us(bench, server, tag):
    got = bench.client.ask(
        server,
        connections=CONNECTIONS,
        depth=1,
        requests=bench.choose(REQUESTS, REQUESTS // 4),
        request=f"GET {{{tag}}}:{{k}}",
        keys=KEYS,
        members=1,
    )
    return got if isinstance(got, Trouble) else got["cpu_us"]

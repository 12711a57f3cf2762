"""Many clients that connect at one moment, and many that are idle."""

import time

from figures import Figures, Trouble, add_parts, at_most

TITLE = "Connections"
ABOUT = """10,000 clients connect at once and each sends a PING after its connection: the time until all have their reply. Meanwhile
another client asks for an absent key 1,000 times a second and measures its waits. INFO reports the longest turn of Mayfly's
loop. Each server has its own default of tcp-backlog: a client that finds the queue full tries again after a second. In
addition the processor time of each second in which 10,000 clients are idle, with a timeout set."""
SECONDS = (75, 20)
NEEDS = "10,200 open files"

TIMEOUT_S = 1000
IDLE_S = 5


def run(bench):
    clients = bench.choose(10_000, 1_000)
    rounds = bench.choose(5, 1)
    median = bench.median_of(rounds)
    found = Figures()
    rows = {
        "all_ms": found.figure(f"{clients:,} connect at once: all answered after", "ms", at_most(1000), main=True),
        "p50_ms": found.figure("half of them answered after", "ms"),
        "max_us": found.figure(f"longest wait of a 1 kHz client meanwhile{median}", "µs", main=True),
        "loop_turn_max_us": found.figure(f"longest loop turn meanwhile{median}", "µs", at_most(10_000)),
    }
    idle = found.figure(f"processor time a second, {clients:,} idle clients with a timeout", "µs", main=True)
    bench.progress.section(TITLE, (rounds + 1) * len(bench.specs))
    lack = bench.lack_of_files(clients)
    for turn in range(rounds):
        for spec in bench.rotated(bench.specs, turn):
            bench.progress.step(f"round {turn + 1} of {rounds}, {spec.name}")
            got = lack or bench.attempt(_storm, bench, spec, clients)
            add_parts(rows, spec.name, got)
    for spec in bench.specs:
        bench.progress.step(f"idle clients, {spec.name}")
        idle.add(spec.name, lack or bench.attempt(_idle, bench, spec, clients))
    return found


def _storm(bench, spec, clients):
    with bench.start(spec) as server, server.wire() as wire:
        wire.ask("CONFIG", "RESETSTAT")
        with bench.client.probing(server) as end_probe:
            time.sleep(0.2)
            with bench.client.storm(server, connections=clients) as got:
                probe = end_probe()
                stats = wire.info("stats")
        for one in (got, probe):
            if isinstance(one, Trouble):
                return one
    got["max_us"] = probe["max_us"]
    if "loop_turn_max_us" in stats:
        got["loop_turn_max_us"] = int(stats["loop_turn_max_us"])
    return got


def _idle(bench, spec, clients):
    with bench.start(spec) as server:
        with server.wire() as wire:
            wire.ask("CONFIG", "SET", "timeout", str(TIMEOUT_S))
        with bench.client.holding(server, clients) as trouble:
            if trouble:
                return trouble
            time.sleep(1)
            before = server.cpu_s()
            time.sleep(IDLE_S)
            return (server.cpu_s() - before) / IDLE_S * 1e6

"""What namespaces cost a GET and a SET, and whether a quota holds beside a flood."""

from figures import OURS, Figures, Trouble, at_most
from sections.instructions import counted, need_valgrind, per_request

TITLE = "Namespaces"
ABOUT = """User-space instructions of a GET hit, a GET miss and a SET at pipeline depth 32, counted by callgrind, without namespaces and with
200, all keys in the hundredth. Then a flood: 10,000 keys of a tenant within its maxmemory, and a million SETs of other keys,
from a namespace with a quota of 16 MB, and from outside of all namespaces up to maxmemory. How many of the tenant's keys are
lost? How far is the flood above its quota? And the server's CPU per SET of a flood up to a quota, and up to maxmemory."""
SECONDS = (60, 30)
NEEDS = "valgrind"

SPACES = 200
KEYS = 10_000
DEPTH = 32
REQUESTS = 19_200
VALUE = "v" * 64
KEY = "n100:{k}"
COMMANDS = {"GET hit": f"GET {KEY}", "GET miss": "GET n100:absent:{k}", "SET": f"SET {KEY} {VALUE}"}
WITHOUT, WITH = "no namespace", f"{SPACES} namespaces"

MEGABYTE = 1 << 20
QUOTA_MB = 16
FLOOD_KEYS = 10_000_000
FLOOD_VALUE = "f" * 200


def run(bench):
    need_valgrind()
    found = Figures()
    costs = {}
    for command in COMMANDS:
        for spaces in (WITHOUT, WITH):
            costs[command, spaces] = found.figure(f"{command}, {spaces}", "instr.", main=command == "GET hit")
    lost = {
        "quota": found.figure("a tenant's keys lost beside a flood in a namespace", "", at_most(0), main=True),
        "maxmemory": found.figure("a tenant's keys lost beside a flood up to maxmemory", "", at_most(0), main=True),
    }
    above = found.figure("flood above its quota", "KB", at_most(1), main=True)
    cpu = {
        "quota": found.figure("SET of a flood held by a quota", "us"),
        "maxmemory": found.figure("SET of a flood held by maxmemory", "us"),
    }
    bench.progress.section(TITLE, 2)
    spec = next(spec for spec in bench.specs if spec.name == OURS)
    bench.progress.step("instructions")
    failed = bench.attempt(_count, bench, spec, costs)
    for row in costs.values() if failed else ():
        row.add(OURS, failed)
    bench.progress.step("floods")
    got = bench.attempt(_flood, bench, spec)
    for rows in (lost, cpu):
        for held, row in rows.items():
            row.add(OURS, got if isinstance(got, Trouble) else got[held]["lost" if rows is lost else "cpu_us"])
    above.add(OURS, got if isinstance(got, Trouble) else got["quota"]["above_kb"])
    return found


def _count(bench, spec, costs):
    with counted(bench, spec) as (server, counts):
        for spaces in (WITHOUT, WITH):
            names = " ".join(f"n{i} prefix n{i}: maxmemory 1gb" for i in range(SPACES)) if spaces == WITH else ""
            with server.wire() as wire:
                wire.ask("CONFIG", "SET", "namespace", names)
                wire.ask("FLUSHALL")
            filled = bench.client.load(server, request=f"SET {KEY} {VALUE}", keys=KEYS, members=1)
            for command, request in COMMANDS.items():
                value = filled
                if not isinstance(filled, Trouble):
                    value = per_request(bench, server, counts, REQUESTS, depth=DEPTH, request=request, keys=KEYS, members=1)
                costs[command, spaces].add(OURS, value)


def _flood(bench, spec):
    """What becomes of the tenant beside each flood; or a Trouble."""
    requests = bench.choose(1_000_000, 200_000)
    results = {}
    for held, prefix in (("quota", "flood:"), ("maxmemory", "outside:")):
        with bench.start(spec) as server, server.wire() as wire:
            wire.ask("CONFIG", "SET", "maxmemory", "64mb", "maxmemory-policy", "allkeys-lru")
            wire.ask("CONFIG", "SET", "namespace", f"tenant maxmemory 8mb flood maxmemory {QUOTA_MB}mb")
            got = bench.client.load(server, request=f"SET tenant:{{k}} {VALUE}", keys=KEYS, members=1)
            if isinstance(got, Trouble):
                return got
            flood = bench.client.ask(
                server, connections=50, depth=DEPTH, requests=requests, request=f"SET {prefix}{{k}} {FLOOD_VALUE}",
                keys=FLOOD_KEYS, members=1,
            )
            if isinstance(flood, Trouble):
                return flood
            tenant, flooded = (_figures_of(wire, name) for name in ("tenant", "flood"))
            over = max(0, int(flooded["memory"]) - QUOTA_MB * MEGABYTE)
            results[held] = {"lost": KEYS - int(tenant["keys"]), "cpu_us": flood["cpu_us"], "above_kb": over / 1024}
    return results


def _figures_of(wire, name):
    """The line of a namespace in INFO."""
    return dict(part.split("=", 1) for part in wire.info("namespaces")["ns_" + name].split(","))

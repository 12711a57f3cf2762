"""Hashes, sets, sorted sets, lists, streams: server CPU per command, and bytes per element, at three sizes."""

from figures import BARE, Figures, Trouble, within

TITLE = "Types"
ABOUT = """Hashes, sets, sorted sets, lists, streams, HyperLogLogs and geo: server CPU per command at pipeline 32, 50 connections, less the
bare server in the same run (the kernel and libuv). Sizes: 100,000 keys of 10 elements, 1,000 keys of 1,000, and a key of a
million. In addition resident bytes per element. Where a command takes elements away, every second request puts an element
back."""
SECONDS = (900, 60)
NEEDS = "2 GiB of memory"

DEPTH = 32
CONNECTIONS = 50
KEY = "k:{k}"
# How many keys of how many elements -> the CPU that the targets allow, as a part of redis-server's above the floor.
SIZES = {(100_000, 10): 1 / 3, (1_000, 1_000): 1, (1, 1_000_000): 2 / 3}
# Type -> how an element is put in; what is measured. Commands that answer with a whole value are not asked of a million.
FAMILIES = {
    "hash": ("HSET {key} f:{m} v:{m}", {
        "HSET": "HSET {key} f:{m} v:{m}",
        "HGET": "HGET {key} f:{m}",
        "HINCRBY": "HINCRBY {key} count 1",
        "HGETALL": "HGETALL {key}",
    }),
    "hash with TTLs": ("HSETEX {key} EX 3600 FIELDS 1 f:{m} v:{m}", {
        "HSETEX": "HSETEX {key} EX 3600 FIELDS 1 f:{m} v:{m}",
    }),
    "set": ("SADD {key} m:{m}", {
        "SADD": "SADD {key} m:{m}",
        "SISMEMBER": "SISMEMBER {key} m:{m}",
        "SPOP and SADD": "SPOP {key} ; SADD {key} m:{m}",
    }),
    "sorted set": ("ZADD {key} {m} m:{m}", {
        "ZADD": "ZADD {key} {m} m:{m}",
        "ZSCORE": "ZSCORE {key} m:{m}",
        "ZRANK": "ZRANK {key} m:{m}",
        "ZRANGE, 10 in the middle": "ZRANGE {key} {from} {to}",
    }),
    "list": ("RPUSH {key} e:{m}", {
        "LPUSH and RPOP": "LPUSH {key} e:{m} ; RPOP {key}",
        "LRANGE, the first 10": "LRANGE {key} 0 9",
    }),
    "stream": ("XADD {key} * f e:{m}", {
        "XADD": "XADD {key} MAXLEN ~ 1000000 * f e:{m}",
    }),
    "HyperLogLog": ("PFADD {key} e:{m}", {
        "PFADD": "PFADD {key} e:{m}",
    }),
    "geo": ("GEOADD {key} 13.{m} 52.{m} m:{m}", {
        "GEOADD": "GEOADD {key} 13.{m} 52.{m} m:{m}",
    }),
}
WHOLE = ("HGETALL",)
# Figures of bytes per element: HyperLogLogs have none.
PACKED = ("hash", "hash with TTLs", "set", "sorted set", "list", "stream", "geo")


def run(bench):
    rounds = bench.choose(3, 1)
    sizes = bench.choose(list(SIZES), [(10_000, 10), (10, 1_000), (1, 100_000)])
    bench.need_memory(2 << 30, "a million elements in each server")
    found = Figures()
    per_size = sum(len(commands) for _, commands in FAMILIES.values())
    bench.progress.section(TITLE, len(sizes) * len(bench.specs) * (len(FAMILIES) + rounds * per_size))
    for size, part in zip(sizes, SIZES.values()):
        for family in FAMILIES:
            _family(bench, found, family, size, part, rounds)
    return found


def _family(bench, found, family, size, part, rounds):
    keys, members = size
    fill, commands = FAMILIES[family]
    shape = f"{keys:,} x {members:,}" if keys > 1 else f"{members:,}"
    rows = {}
    for name in commands:
        if name in WHOLE and members > 1_000:
            continue
        rows[name] = found.figure(f"{name}, {shape}", "µs", within(part, "redis"), main=True)
    bytes_row = found.figure(f"bytes an element of a {family}, {shape}", "B", within(1, "redis"), main=True)
    with bench.all_servers([*rows.values(), bytes_row], bare=True) as servers:
        ready = [s for s in servers if s.name == BARE or _fill(bench, s, family, fill, size, [*rows.values(), bytes_row])]
        requests = bench.choose(400_000, 40_000)
        for turn in range(rounds):
            for name, row in rows.items():
                count = requests // 20 if name in WHOLE and members > 10 else requests
                floor = _ask(bench, next((s for s in ready if s.name == BARE), None), commands[name], size, count)
                for server in bench.rotated([s for s in ready if s.name != BARE], turn):
                    bench.progress.step(f"round {turn + 1} of {rounds}, {row.name}, {server.name}")
                    got = _ask(bench, server, commands[name], size, count)
                    row.add(server.name, got if isinstance(got, Trouble) else max(got - (floor or 0), 0))


def _fill(bench, server, family, form, size, rows):
    keys, members = size
    bench.progress.step(f"inserting {keys * members:,} elements of a {family}, {server.name}")
    got = bench.attempt(_load, bench, server, form.replace("{key}", KEY), keys, members)
    if isinstance(got, Trouble):
        for row in rows:
            row.add(server.name, got)
        return False
    if family in PACKED:
        rows[-1].add(server.name, got / (keys * members))
    return True


def _load(bench, server, form, keys, members):
    """The bytes that the elements took; or a Trouble."""
    # First some that are removed again: code and buffers that any element needs are not what the others cost.
    for count in ({"keys": 100, "members": 100}, {"keys": keys, "members": members}):
        with server.wire() as wire:
            wire.ask("FLUSHALL")
        before = server.settled_bytes()
        got = bench.client.load(server, request=form, **count)
        if isinstance(got, Trouble):
            return got
    return server.settled_bytes() - before


def request(form, key, members):
    """A request of FAMILIES for keys of that many members."""
    return form.replace("{key}", key).replace("{from}", str(members // 2)).replace("{to}", str(members // 2 + 9))


def _ask(bench, server, form, size, requests):
    """CPU microseconds per request; None without a server; or a Trouble."""
    if server is None:
        return None
    keys, members = size
    form = request(form, KEY, members)
    load = {"connections": CONNECTIONS, "depth": DEPTH, "requests": requests}
    got = bench.attempt(
        lambda: bench.client.ask(server, keys=keys, members=members, request=form, **load))
    return got["cpu_us"] if isinstance(got, dict) else got

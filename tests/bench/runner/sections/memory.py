"""Resident bytes for a key beyond its own, and for an idle connection."""

from figures import Figures, Trouble, at_most

TITLE = "Memory"
ABOUT = """Resident bytes per key, less the key (14) and the value (32), without and with a TTL of 1 to 2 hours, at 2M keys. The mean of
the same figure at 1M to 2M keys, with key and value of 24 to 152 bytes together, each length equally often. Resident bytes
per connection, for 10,000 connections that have sent a PING and are idle."""
SECONDS = (110, 33)
NEEDS = "1.5 GiB of memory and 10,200 open files"

VALUE_BYTES = 32
# With a key of 14 bytes: 24 to 152 together.
MIXED_VALUES = "10-138"
TTL_MS = "3600000-7200000"
SAMPLES = 6


def run(bench):
    keys = bench.choose(2_000_000, 200_000)
    bench.need_memory(1_500_000_000 * keys // 2_000_000, f"{keys:,} keys")
    found = Figures()
    kinds = (("no TTL", 0, 28, 34), ("with a TTL", TTL_MS, 44, 50))
    bench.progress.section(TITLE, len(bench.specs) * (2 * (1 + SAMPLES) + 1))
    for label, ttl_ms, alone, mean in kinds:
        row = found.figure(f"bytes a key beyond key and value, {label}", "B", at_most(alone), main=True)
        for spec in bench.specs:
            bench.progress.step(f"{keys:,} keys {label}, {spec.name}")
            row.add(spec.name, bench.attempt(_measure, bench, spec, [keys], VALUE_BYTES, ttl_ms))
    for label, ttl_ms, alone, mean in kinds:
        front = "memory per key beyond key and value, with a TTL" if ttl_ms else ""
        row = found.figure(f"the same, mean over sizes and counts, {label}", "B", at_most(mean), main=True, front=front)
        counts = [keys * (SAMPLES - 1 + i) // (2 * (SAMPLES - 1)) for i in range(SAMPLES)]
        for spec in bench.specs:
            row.add(spec.name, bench.attempt(_measure, bench, spec, counts, MIXED_VALUES, ttl_ms))
    _idle_connections(bench, found)
    return found


def _measure(bench, spec, counts, value_bytes, ttl_ms):
    """The bytes per key beyond those of keys and values, as the mean over the counts; or a Trouble."""
    beyond, payload, loaded = [], 0, 0
    with bench.start(spec) as server:
        start = server.settled_bytes()
        for count in counts:
            if len(counts) > 1:
                bench.progress.step(f"{count:,} keys of mixed sizes, {spec.name}")
            got = bench.client.load(server, keys=count - loaded, first=loaded, value_bytes=value_bytes, ttl_ms=ttl_ms)
            if isinstance(got, Trouble):
                return got
            loaded = count
            payload += got["key_bytes"] + got["value_bytes"]
            with server.wire() as wire:
                held = wire.ask("DBSIZE")
            if held != count:
                return Trouble(f"holds {held:,} of {count:,} keys")
            beyond.append((server.settled_bytes() - start - payload) / count)
    return sum(beyond) / len(beyond)


def _idle_connections(bench, found):
    wanted = bench.choose(10_000, 1_000)
    front = f"memory per idle connection, of {wanted:,}"
    row = found.figure(f"bytes an idle connection, {wanted:,} of them", "B", at_most(2048), main=True, front=front)
    for spec in bench.specs:
        bench.progress.step(f"{wanted:,} idle connections, {spec.name}")
        row.add(spec.name, bench.attempt(_bytes_a_connection, bench, spec, wanted))


def _bytes_a_connection(bench, spec, wanted):
    lack = bench.lack_of_files(wanted)
    if lack:
        return lack
    with bench.start(spec) as server:
        start = server.settled_bytes()
        with bench.client.holding(server, wanted) as trouble:
            if trouble:
                return trouble
            return (server.settled_bytes() - start) / wanted

"""User-space instructions per command of the types, counted by callgrind."""

from figures import Figures, Trouble, within
from sections import types
from sections.instructions import counted, need_valgrind, per_request

TITLE = "Types: instructions"
ABOUT = """User-space instructions of the server for each command of the section types, at pipeline depth 32, counted by callgrind:
1,000 keys of 10 elements."""
SECONDS = (650, 400)
NEEDS = "valgrind"

KEYS = 1_000
MEMBERS = 10
REQUESTS = 6_400


def run(bench):
    need_valgrind()
    found = Figures()
    rows = {
        name: found.figure(f"{name}, 10 elements", "instr.", within(1, "redis"))
        for _, commands in types.FAMILIES.values()
        for name in commands
    }
    bench.progress.section(TITLE, len(bench.specs) * len(types.FAMILIES))
    for spec in bench.specs:
        failed = bench.attempt(_measure, bench, spec, rows)
        for row in rows.values() if failed else ():
            row.add(spec.name, failed)
    return found


def _measure(bench, spec, rows):
    with counted(bench, spec) as (server, counts):
        for family, (fill, commands) in types.FAMILIES.items():
            bench.progress.step(f"{family}, {spec.name}")
            # Each family has keys of its own.
            first = {"keys": KEYS, "members": MEMBERS}
            key = family.replace(" ", "-") + ":{k}"
            got = bench.client.load(server, request=fill.replace("{key}", key), **first)
            for name, form in commands.items():
                if not isinstance(got, Trouble):
                    request = types.request(form, key, MEMBERS)
                    value = per_request(bench, server, counts, REQUESTS, depth=32, request=request, **first)
                rows[name].add(spec.name, got if isinstance(got, Trouble) else value)

"""The sections of scripts/bench, one module each, in the order in which they run.

How to add one: a module of this folder with

    TITLE = "Server CPU per request"        # the line above its table
    ABOUT = "..."                           # for --help and docs/benchmarks.md: what is measured and how
    SECONDS = (120, 20)                     # about how long a full run and a --quick run take
    NEEDS = ""                              # for --help: packages or memory that only it needs; "" for none
    def run(bench): ...                     # measures; returns a figures.Figures

and its name in ORDER below; the module's name is what --sections takes. `run` gets a bench.Bench: `bench.specs` are the
servers (name and command), `bench.start(spec)` runs one as a context manager, `bench.all_servers()` all at once,
`bench.client` is the load generator, `bench.run_json("wheel", ...)` runs a measuring program of tests/bench that needs no
server (tests/bench/<name>.cc becomes bench_<name>; add it to the targets that scripts/bench builds), `bench.choose(full,
quick)` picks a size, `bench.folder` is scratch, `bench.attempt(fn, ...)` turns a server's failure into a Trouble, and
`bench.progress` shows progress: `section(TITLE, steps)` once, then `step("what")` for each step.

    found = Figures()
    row = found.figure("GET hit, pipeline 64", "us", target=times_better(6.5, "redis"), main=True)
                                            # main: also in docs/benchmarks.md; front="name": also in README.md
    row.add(server.name, value)             # once for each round; the median counts
    row.add(server.name, Trouble("why"))    # instead of a number

A section may have a plot of its own, PLOT = "name.svg" with draw(figures, path), and a table of its own in docs/benchmarks.md,
FRONT = "name" with front_text(figures), between the markers of readme.markers_of(FRONT).

Less is better in every figure. Within a round all servers take their turn. An error reply is a Trouble, never a fast
reply. If nothing can be measured at all, `run` raises bench.CannotRun("why").
"""

import importlib

ORDER = (
    "cpu", "shootout", "threads", "memory", "storm", "herd", "events", "tasks", "tags", "growth", "wheel", "scale", "misses", "mixes", "pubsub", "scripts", "stampede", "types", "large", "groups",
    "instructions", "type_instructions", "namespaces", "tls", "shards",
    "steady", "saves", "starts", "restarts",
)


def load(name):
    return importlib.import_module(f"sections.{name}")

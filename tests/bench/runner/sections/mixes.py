"""What a cache of values with TTLs costs on traffic like that of clusters that somebody has."""

import contextlib
import json
import math
import os
import shutil
import subprocess
from dataclasses import dataclass

from figures import OURS, Figures, Trouble, at_most, times_better
from sections.misses import Memcached
from servers import ServerFailed, Spec, child_setup
from table import columns_of, number

TITLE = "Traffic of clusters"
ABOUT = """`scripts/bench --sections mixes`. Traffic after Twitter's table of its cache clusters in March 2020 (cache-trace,
stat/2020Mar.md, CC BY 4.0; a copy is in tests/bench/mixes): sizes, operations, popularity, one-hit wonders and TTLs of each
cluster. An application stores what it misses. Time is compressed, so that TTLs of hours are seconds; memcached has TTLs of
whole seconds. The servers begin with what is alive in the middle of the traffic. Memory is resident memory beyond that of the
empty server, the mean of 4 s. First without a limit: memory, keys that are dead but still held, server CPU per command, and the
99.9th percentile of waits for 16 requests at once. Then with maxmemory at an eighth, a quarter and a half of what Redis needed
without a limit, under each policy. The resident memory is measured again there, and each server's curve of misses over resident
memory is interpolated: it gives the memory in which the server misses as rarely as Redis does under its best policy at a
quarter, at a half and without a limit. The figure is the geometric mean of the three, under the policy that needs the least; an
empty cell means that no memory was enough. Where misses hardly depend on memory, or nobody reads, the memory without a limit
counts."""
SECONDS = (1100, 290)
NEEDS = ""
FRONT = "mixes"

MIB = 2**20
REDIS8, MEMCACHED = "redis 8", "memcached"
POLICIES = ("allkeys-lru", "allkeys-lfu", "volatile-ttl")
OUR_POLICIES = ("allkeys-lru", "allkeys-sieve", "allkeys-s3fifo")
# Of what the first other server needs without a limit. The curves begin before the first goal, since others need less.
LIMITS = (1 / 8, 1 / 4, 1 / 2)
# At these of its limits, and without a limit, the other server's misses are the goal of all.
GOALS = (1 / 4, 1 / 2)
# Misses within this factor of the fewest possible are as few: a curve has no end otherwise.
NEARLY = 1.02
# A curve whose misses differ by less from one end to the other says nothing about memory.
FLAT = 1.1
# Figures of each cluster.
FREE, CPU, WAIT, DEAD = "memory without a limit", "server CPU a command", "p99.9 of waits", "dead keys held, of those alive"
SAME, MISSES = "memory for the same misses", "misses"
OF_ALL = "geometric mean of all clusters, times Mayfly's"
TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "mixes", "twitter_2020mar.csv")


@dataclass(frozen=True)
class Mix:
    """A cluster, and how its traffic is scaled to this machine: time by a factor, and so many requests a second to so many keys
    that some ten to a hundred MB are alive."""

    number: int
    kind: str
    compress: float
    rate: int
    keys: int
    past_s: float  # three of the longest TTLs, but at most 100 s
    quick: bool = False

    @property
    def name(self):
        return f"cluster{self.number}"

    @property
    def label(self):
        return f"{self.name}, {self.kind}"


MIXES = (
    Mix(4, "TTLs of 1 min to 1 d", 30, 8_000, 1_000_000, 100, quick=True),
    Mix(10, "each key read twice, TTL 2 h", 1_800, 5_000, 1_000_000, 12),
    Mix(12, "mostly writes, TTL 5 min", 75, 10_000, 30_000, 12),
    Mix(15, "writes of one-hit wonders, TTL 30 s", 6, 20_000, 10_000, 15, quick=True),
    Mix(19, "TTLs of 7 h, even popularity", 1_500, 20_000, 300_000, 54),
    Mix(21, "values of 1 byte, TTLs 10 s to 2 h", 5, 4_000, 10_000, 100),
    Mix(22, "counters of 4 bytes, TTLs 30 min to 1 d", 900, 5_000, 300_000, 100, quick=True),
    Mix(23, "counters and deletions, TTLs 5 s to 45 min", 5, 20_000, 100_000, 100),
    Mix(24, "TTLs of 1 min and of 14 d", 30, 20_000, 1_000_000, 100),
    Mix(27, "values of 8 bytes, TTLs 1 h to 90 d", 1_800, 20_000, 1_000_000, 100, quick=True),
    Mix(29, "TTLs of 1 and 2 h", 200, 20_000, 1_000_000, 100),
    Mix(31, "writes of 15 bytes, TTL 1 min", 8, 20_000, 10_000, 23),
    Mix(35, "values of 2 KB, TTL 1 min", 8, 10_000, 30_000, 22),
    Mix(37, "values of 20 KB, TTLs 20 s to 2 h", 10, 2_000, 10_000, 100, quick=True),
    Mix(40, "half writes, TTL 8 h", 1_500, 20_000, 300_000, 100),
    Mix(48, "one-hit wonders, TTL 1 d", 4_800, 20_000, 300_000, 54, quick=True),
    Mix(50, "values of 67 KB, TTL 15 min", 300, 1_000, 10_000, 12),
    Mix(52, "TTLs of 12 h to 14 d", 7_200, 20_000, 1_000_000, 100),
)


@dataclass
class Point:
    """A server's resident bytes, beyond the empty server's, and the share of its reads that missed there."""

    resident: float
    misses: float


# ---- curves


def memory_for(points, goal):
    """The resident bytes at which a curve reaches the misses `goal`, linear between the logarithms of its points. Where even the
    smallest point misses less, its bytes: more than the server needs. None if no point has so few misses."""
    curve, fewest = [], math.inf
    for point in sorted(points, key=lambda p: p.resident):
        if point.misses < fewest:
            fewest = point.misses
            curve.append(point)
    before = None
    for point in curve:
        if point.misses <= goal:
            if before is None:
                return point.resident
            way = (before.misses - goal) / (before.misses - point.misses)
            return math.exp((1 - way) * math.log(max(before.resident, 1)) + way * math.log(max(point.resident, 1)))
        before = point
    return None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def misses_at(points, resident):
    """The misses of a curve at that many resident bytes; beyond its ends those of the end."""
    curve = sorted(points, key=lambda p: p.resident)
    if resident <= curve[0].resident:
        return curve[0].misses
    for low, high in zip(curve, curve[1:]):
        if resident <= high.resident:
            way = math.log(resident / low.resident) / math.log(max(high.resident / low.resident, 1 + 1e-9))
            return low.misses + way * (high.misses - low.misses)
    return curve[-1].misses


def goals_of(curves, limits):
    """The misses that all servers are to reach: `curves` are the points of the yardstick's policies in the order of the limits,
    each with the point without a limit at its end. Empty if misses hardly depend on memory."""
    if not curves:
        return []
    fewest = min(points[-1].misses for points in curves)
    goals = []
    for place, limit in enumerate(limits):
        if limit in GOALS:
            goals.append(max(min(points[place].misses for points in curves), fewest * NEARLY))
    goals.append(fewest * NEARLY)
    return goals if fewest > 0 and max(goals) > FLAT * fewest else []


class Section:
    def __init__(self, bench):
        self.bench = bench
        self.mixes = [m for m in MIXES if m.quick] if bench.quick else list(MIXES)
        self.limits = LIMITS
        self.seconds = bench.choose(4, 3)
        self.specs = list(bench.specs)
        if shutil.which("redis-server-8"):
            command = next(s.command for s in bench.specs if s.name != OURS).split(" ", 1)[1]
            self.specs.append(Spec(REDIS8, f"redis-server-8 {command}"))
        self.columns = [s.name for s in self.specs] + ([MEMCACHED] if shutil.which("memcached") else [])
        self.yardstick = next((s.name for s in bench.specs if s.name != OURS), OURS)
        self.found = Figures()

    def run(self):
        self.bench.progress.section(TITLE, len(self.mixes) * (len(self.columns) + len(self.limits)))
        # The figures of all clusters come first in the table.
        self._headline([])
        self._headline([self._measure(mix) for mix in self.mixes])
        return self.found

    def _headline(self, memories):
        """What the clusters have in common; `memories` has each one's resident bytes by column."""
        other, valkey = self.yardstick, "valkey"
        name = f"{SAME}, {OF_ALL}"
        mean = self.found.figure(name, "times", times_better(2, other), main=True)
        beside = self.found.figure("the same, beside valkey", "times", times_better(1.6, valkey), main=True)
        worst = self.found.figure("the same, the worst cluster: Mayfly / the best of the others", "times", at_most(1), main=True)
        compared = [m for m in memories if OURS in m]
        for column in self.columns:
            # Where a server did not reach the misses, a mean of the other clusters would flatter it.
            ratios = [m[column] / m[OURS] for m in compared if column in m]
            if not ratios or len(ratios) < len(compared):
                continue
            for row in (mean, beside) if column in (OURS, valkey) else (mean,):
                row.add(column, geometric_mean(ratios))
        for name in (FREE, CPU, WAIT):
            self._add_mean(name)
        worsts = [m[OURS] / min(m[c] for c in m if c != OURS) for m in compared if len(m) > 1]
        if worsts:
            worst.add(OURS, max(worsts))

    def _add_mean(self, name):
        """How many times Mayfly's figures the others' are, of all clusters in which both have one."""
        row = self.found.figure(f"{name}, {OF_ALL}", "times", main=True)
        of_clusters = [f for f in self.found.all() if f.name.startswith(f"{name}, cluster")]
        for column in self.columns:
            ratios = [f.value(column) / f.value(OURS) for f in of_clusters if f.value(column) and f.value(OURS)]
            if ratios:
                row.add(column, geometric_mean(ratios))

    # ---- a cluster

    def _measure(self, mix):
        """Column -> resident bytes for the same misses."""
        free = self._without_limit(mix)
        if self.yardstick not in free:
            return {}
        reads = free[self.yardstick]["gets"] > 0
        curves = self._with_limits(mix, free) if reads else {}
        memory = {column: self._mean(run, "resident_bytes") for column, run in free.items()}
        goals = goals_of([points for (column, _), points in curves.items() if column == self.yardstick], self.limits)
        names = []
        if goals:
            memory, policies = self._best(curves, goals)
            names = [f"{column} {policy.removeprefix('allkeys-')}" for column, policy in policies.items() if policy]
            self._add_misses(mix, {run: points for run, points in curves.items() if run in policies.items()})
        note = f"; {', '.join(names)}" if names else "; without a limit"
        row = self.found.figure(f"{SAME}, {mix.label}{note}", "MiB")
        for column in self.columns:
            if memory.get(column):
                row.add(column, memory[column] / MIB)
        return {c: m for c, m in memory.items() if m}

    @staticmethod
    def _mean(run, name):
        return sum(s[name] for s in run["samples"]) / len(run["samples"])

    @staticmethod
    def _best(curves, goals):
        """Column -> bytes under its best policy; and column -> that policy."""
        best = {}
        for (column, policy), points in curves.items():
            needs = [memory_for(points, goal) for goal in goals]
            if None in needs:
                continue
            need = geometric_mean(needs)
            if column not in best or need < best[column][0]:
                best[column] = (need, policy)
        return {c: need for c, (need, _) in best.items()}, {c: policy for c, (_, policy) in best.items()}

    def _add_misses(self, mix, curves):
        """Misses at equal resident memory, at parts of what the yardstick has without a limit. `curves` has those of the best
        policies."""
        whole = next(points[-1].resident for (column, _), points in curves.items() if column == self.yardstick)
        for part, text in ((1 / 4, "a quarter"), (1 / 2, "a half"), (1, "all")):
            name = f"{MISSES}, {mix.label}, at {text} of the memory that {self.yardstick} needs without a limit"
            row = self.found.figure(name, "%")
            for (column, _), points in curves.items():
                row.add(column, 100 * misses_at(points, part * whole))

    # ---- without a limit

    def _without_limit(self, mix):
        rows = {
            "resident": self.found.figure(f"{FREE}, {mix.label}", "MiB"),
            "dead": self.found.figure(f"{DEAD}, {mix.label}", "%"),
            "dead_most": self.found.figure(f"dead keys held at most, of those alive, {mix.label}", "%"),
            "dead_bytes": self.found.figure(f"keys and values of dead keys, {mix.label}", "MiB"),
            "alive": self.found.figure(f"keys and values alive, {mix.label}", "MiB"),
            "cpu": self.found.figure(f"{CPU}, {mix.label}", "us"),
            "wait": self.found.figure(f"{WAIT}, {mix.label}", "us"),
            "misses": self.found.figure(f"misses without a limit, {mix.label}", "%"),
        }
        done = {}
        for column in self.columns:
            self.bench.progress.step(f"{mix.name}, {column}")
            got = self.bench.attempt(self._play_alone, mix, column)
            if isinstance(got, Trouble):
                for row in rows.values():
                    row.add(column, got)
                continue
            done[column] = got
            self._add_alone(rows, column, got)
        return done

    def _add_alone(self, rows, column, got):
        samples = got["samples"]
        dead = [max(s["keys"] - s["alive"], 0) / max(s["alive"], 1) for s in samples]
        each = self._mean(got, "alive_bytes") / max(self._mean(got, "alive"), 1)
        rows["resident"].add(column, self._mean(got, "resident_bytes") / MIB)
        rows["alive"].add(column, self._mean(got, "alive_bytes") / MIB)
        rows["dead"].add(column, 100 * sum(dead) / len(dead))
        rows["dead_most"].add(column, 100 * max(dead))
        rows["dead_bytes"].add(column, max(self._mean(got, "keys") - self._mean(got, "alive"), 0) * each / MIB)
        rows["cpu"].add(column, got["cpu_us"])
        rows["wait"].add(column, got["wait_us"]["p999"])
        if got["gets"]:
            rows["misses"].add(column, 100 * got["misses"] / got["gets"])

    def _play_alone(self, mix, column):
        with self._start(column) as server:
            got = self._play(mix, [(column, server)], batch=16, settle_s=1)
        return {**got["servers"][0], "wait_us": got["wait_us"]}

    # ---- with limits

    def _with_limits(self, mix, free):
        """(column, policy) -> its points: at each limit, and without."""
        need = self._mean(free[self.yardstick], "resident_bytes")
        curves = {}
        for limit in self.limits:
            self.bench.progress.step(f"{mix.name}, {limit:g} of {need / MIB:.0f} MiB")
            for run, point in self._play_limited(mix, int(limit * need)).items():
                curves.setdefault(run, []).append(point)
        for (column, policy), points in list(curves.items()):
            if column not in free or len(points) < len(self.limits):
                del curves[column, policy]
                continue
            alone = free[column]
            points.append(Point(self._mean(alone, "resident_bytes"), alone["misses"] / max(alone["gets"], 1)))
        return curves

    def _play_limited(self, mix, limit):
        """(column, policy) -> Point, of all servers at once: nobody's time is measured."""
        runs = {}
        with contextlib.ExitStack() as stack:
            for column in self.columns:
                for policy in ("",) if column == MEMCACHED else OUR_POLICIES if column == OURS else POLICIES:
                    server = self.bench.attempt(lambda c=column, p=policy: stack.enter_context(self._start(c, p, limit)))
                    if not isinstance(server, Trouble):
                        runs[column, policy] = server
            got = self._play(mix, [(column, server) for (column, _), server in runs.items()], batch=64, settle_s=2)
        points = {}
        for run, played in zip(runs, got["servers"]):
            points[run] = Point(max(self._mean(played, "resident_bytes"), 1), played["misses"] / max(played["gets"], 1))
        return points

    # ---- servers and the player

    def _start(self, column, policy="", limit=0):
        """A server, its maxmemory beyond what it uses when it is empty."""
        if column == MEMCACHED:
            return self._start_memcached(limit)
        server = self.bench.start(next(s for s in self.specs if s.name == column))
        try:
            with server.wire() as wire:
                used = int(wire.info("memory")["used_memory"])
                wire.ask("CONFIG", "SET", "maxmemory", used + limit if limit else 0)
                if policy:
                    wire.ask("CONFIG", "SET", "maxmemory-policy", policy)
        except BaseException:
            server.stop()
            raise
        return server

    def _start_memcached(self, limit):
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        size = max(round(limit / MIB), 1) if limit else 8192
        words = ["memcached", "-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-t", "1", "-m", str(size), *user]
        return Memcached(Spec(MEMCACHED, " ".join(words)), self.bench.folder, self.bench.server_processor)

    def _play(self, mix, servers, batch, settle_s):
        words = [self.bench.program("mixes"), "--table", TABLE, "--cluster", mix.name, "--keys", mix.keys, "--compress", mix.compress]
        words += ["--rate", mix.rate, "--past-s", mix.past_s, "--settle-s", settle_s, "--seconds", self.seconds, "--batch", batch, "play"]
        words += [f"{s.port}:{s.pid}:{'memcached' if column == MEMCACHED else 'redis'}" for column, s in servers]
        done = subprocess.run(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=child_setup(self.bench.client_processor),
        )
        if done.returncode != 0:
            raise ServerFailed(done.stderr.decode(errors="replace").strip() or f"ended with {done.returncode}")
        return json.loads(done.stdout)


def run(bench):
    return Section(bench).run()


# ---- docs/benchmarks.md

# A table of all clusters each: the heading, the begin of the figures' names, and the part of a name by which one of several is
# chosen.
TABLES = (
    ("Memory for the same misses, in MiB", SAME, ""),
    ("Memory without a limit, in MiB", FREE, ""),
    ("Keys that are dead and still held, in % of those alive", DEAD, ""),
    ("Misses in % of the reads, each server with half of the memory that Redis needs without a limit", MISSES, "at a half of"),
    ("Server's processor time a command, in µs", CPU, ""),
    ("p99.9 of the waits, in µs", WAIT, ""),
)


def _figures_of(figures, begin, part):
    """(cluster, figure) of a measure."""
    return [(mix, f) for mix in MIXES for f in figures if f.name.startswith(f"{begin}, {mix.label}") and part in f.name and f.columns()]


def _less(figures, begin, part, column):
    """The numbers of the clusters in which a server has less than Mayfly, as the table shows the figures."""

    def shown(figure, column):
        value = figure.value(column)
        return None if value is None else float(number(value).replace(",", ""))

    both = [(mix, shown(f, OURS), shown(f, column)) for mix, f in _figures_of(figures, begin, part)]
    return ", ".join(str(mix.number) for mix, ours, other in both if None not in (ours, other) and other < ours) or "none"


def front_text(figures):
    """The tables of docs/benchmarks.md: the means of all clusters, where others have less, then a table of all clusters for each measure."""
    columns = [OURS, *(c for c in columns_of(figures) if c != OURS)]
    heads = " | ".join(c.capitalize() for c in columns) + " |"
    rule = "|---" + "|---:" * len(columns) + "|"

    def line(label, figure):
        return f"| {label} | " + " | ".join(number(figure.value(c)) for c in columns) + " |"

    lines = [f"The {OF_ALL}:", "", f"| | {heads}", rule]
    lines += [line(f.name.removesuffix(f", {OF_ALL}"), f) for f in figures if f.name.endswith(OF_ALL)]
    others = columns[1:]
    lines += ["", "The clusters in which another server has less than Mayfly:", ""]
    lines += ["| | " + " | ".join(c.capitalize() for c in others) + " |", "|---" * (1 + len(others)) + "|"]
    lines += [f"| {begin} | " + " | ".join(_less(figures, begin, part, c) for c in others) + " |" for _, begin, part in TABLES]
    for heading, begin, part in TABLES:
        lines += ["", f"{heading}:", "", f"| | {heads}", rule]
        lines += [line(mix.label, f) for mix, f in _figures_of(figures, begin, part)]
    return "\n".join(lines)

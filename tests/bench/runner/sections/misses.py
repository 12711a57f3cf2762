"""How often caches miss on the same requests, at equal memory and at equal numbers of keys."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
from dataclasses import dataclass

from bench import CannotRun
from figures import OURS, Figures, Trouble, at_most, within
from servers import Server, ServerFailed, Spec, child_setup

TITLE = "Misses"
ABOUT = """An application asks for a key and stores the key after a miss: 2.2M requests over 1M keys with values of 64 bytes, the same
requests for all servers (seed 1); the last 1.2M count. Zipf 0.7, 0.9 and 1.1; Zipf 0.9 with scans (half as many requests again
go to keys in order); Zipf 0.9 with changing popular keys. First with the same maxmemory, in which Redis holds about 10 % of the
keys. Then with 10 % of the keys each, as nearly as possible: Redis and Valkey by a maxmemory that is adjusted all the time,
memcached by -m and the size of its chunks. In addition exact LRU, SIEVE and Belady's optimum are computed, the optimum also
for the number of keys that Mayfly holds in the same memory. Last, with shadow-list yes, Mayfly's prediction for twice the
memory, and the result with twice the memory."""
SECONDS = (400, 40)
NEEDS = ""

MIB = 2**20
VALUE_BYTES = 64
LRU, SIEVE, S3FIFO, LFU = "allkeys-lru", "allkeys-sieve", "allkeys-s3fifo", "allkeys-lfu"
TRACES = {
    "Zipf 0.7": ("--exponent", 0.7),
    "Zipf 0.9": ("--exponent", 0.9),
    "Zipf 1.1": ("--exponent", 1.1),
    "Zipf 0.9 and scans": ("--kind", "scan"),
    "Zipf 0.9, shifting": ("--kind", "shift"),
}
ZIPF = ("Zipf 0.7", "Zipf 0.9", "Zipf 1.1")
# The one that the targets are for.
MAIN = "Zipf 0.9"
# Column -> its name in bench_hit_ratio's answer.
COMPUTED = {"exact LRU": "lru", "exact SIEVE": "sieve", "optimum": "belady"}
MEMCACHED = "memcached"
# So few that hardly any holds a key twice: Mayfly counts each answer, and the second one of a missed key would be another.
FORETELLING_BATCH = 16
# What memcached keeps with a key of 14 bytes and such a value: header, CAS number, line end.
MEMCACHED_ITEM = 48 + 8 + 15 + VALUE_BYTES + 2
MEMCACHED_HEADER = 48


@dataclass
class Run:
    """A cache that replays a trace, and what came of it."""

    column: str
    start: object  # makes the Server
    arguments: tuple = ()  # of bench_hit_ratio, beside the port
    process: object = None
    server: object = None
    empty_bytes: int = 0  # as it counts them
    misses: int = 0
    percent: float = 0
    keys: float = 0
    resident_bytes: int = 0


def column_of(server, policy):
    """The column of a server under a policy: "redis" for LRU, else "redis lfu" and the like."""
    return server if policy == LRU else f"{server} {policy.removeprefix('allkeys-')}"


class Memcached(Server):
    def stats(self):
        with socket.create_connection(("127.0.0.1", self.port), 2) as wire, wire.makefile("rb") as file:
            wire.sendall(b"stats\r\n")
            lines = iter(file.readline, b"END\r\n")
            return {words[1].decode(): words[2].decode() for words in map(bytes.split, lines) if len(words) == 3}

    def _answers(self):
        try:
            return "curr_items" in self.stats()
        except OSError:
            return False


class Section:
    def __init__(self, bench):
        self.bench = bench
        self.keys = bench.choose(1_000_000, 200_000)
        self.capacity = self.keys // 10
        self.traces = bench.choose(tuple(TRACES), (MAIN, "Zipf 0.9 and scans"))
        # The first server beside ours: the targets are relative to it.
        self.other = next((s.name for s in bench.specs if s.name != OURS), None)
        self.found = Figures()

    def run(self):
        self.bench.progress.section(TITLE, 1 + 3 * len(self.traces))
        self.bench.progress.step(f"the memory in which redis holds {self.capacity:,} keys")
        limit = -(-self._memory_of_redis() // MIB) * MIB
        equal_memory = self._replay_all(f"{limit // MIB} MiB each", lambda: self._runs("maxmemory", limit))
        equal_keys = self._replay_all(f"{self.capacity:,} keys each", lambda: self._runs("keys", self.capacity))
        computed = {trace: self._compute(trace) for trace in self.traces}
        for trace, result in computed.items():
            for column, name in COMPUTED.items():
                row = self.found.figure(f"{trace}, {self.capacity:,} keys each", "%")
                row.add(column, 100 * result[name] / result["requests"])
        self._add_best(equal_memory)
        self._foretell(limit)
        self._add_memory(equal_memory[MAIN], limit)
        self._add_keys(equal_keys[MAIN])
        self._add_main(equal_memory)
        self._add_differing(equal_keys, computed)
        return self.found

    def _memory_of_redis(self):
        spec = next(s for s in self.bench.specs if s.name == self.other)
        with self.bench.start(spec) as server, server.wire() as wire:
            loaded = self.bench.client.load(server, keys=self.capacity, value_bytes=VALUE_BYTES)
            if isinstance(loaded, Trouble):
                raise ServerFailed(loaded.text)
            return int(wire.info("memory")["used_memory"])

    # ---- the caches

    def _runs(self, kind, amount):
        """All caches with that limit: of bytes ("maxmemory") or of keys ("keys")."""
        runs = []
        for spec in self.bench.specs:
            ours = spec.name == OURS
            for policy in (LRU, SIEVE, S3FIFO, LFU) if ours else (LRU, LFU):
                column = column_of(spec.name, policy)
                options = {"maxmemory-policy": policy, "maxmemory": amount if kind == "maxmemory" else 0}
                if ours and kind == "keys":
                    options["maxkeys"] = amount
                hold = ("--hold-keys", amount) if kind == "keys" and not ours else ()
                runs.append(Run(column, lambda s=spec, o=options: self._start_redis(s, o), hold))
        words = self.memcached_for_keys(amount) if kind == "keys" else ("-m", amount // MIB)
        runs.append(Run(MEMCACHED, lambda: self._start_memcached(words), ("--protocol", "memcached")))
        return runs

    def _start_redis(self, spec, options):
        server = self.bench.start(spec)
        try:
            with server.wire() as wire:
                for name, value in options.items():
                    wire.ask("CONFIG", "SET", name, value)
        except BaseException:
            server.stop()
            raise
        return server

    def _start_memcached(self, words):
        if not shutil.which("memcached"):
            raise ServerFailed("memcached is missing")
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        command = ["memcached", "-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-t", "1", *user, *map(str, words)]
        return Memcached(Spec(MEMCACHED, " ".join(command)), self.bench.folder, self.bench.server_processor)

    @staticmethod
    def memcached_for_keys(keys):
        """Memory comes in pages of 1 MiB, cut into chunks of one size: the two that come nearest to a number of keys."""
        least = -(-MEMCACHED_ITEM // 8) * 8
        pairs = ((chunk, pages) for chunk in range(least, least + 64, 8) for pages in range(2, 65))
        chunk, pages = min(pairs, key=lambda p: (abs(p[1] * (MIB // p[0]) - keys), p[0]))
        return "-m", pages, "-n", chunk - MEMCACHED_HEADER

    # ---- a replay

    def _words(self, trace):
        requests = self.keys * 22 // 10
        return [*TRACES[trace], "--keys", self.keys, "--requests", requests, "--warm-up", self.keys]

    def _start_program(self, words, processor):
        return subprocess.Popen(
            [self.bench.program("hit_ratio"), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=child_setup(processor),
        )

    def _replay_all(self, equal, make_runs):
        """Trace -> column -> Run, of those that worked."""
        done = {}
        for trace in self.traces:
            self.bench.progress.step(f"{trace}, {equal}")
            done[trace] = self._replay(trace, equal, make_runs())
        return done

    def _replay(self, trace, equal, runs):
        """All caches at once: nobody's time is measured. Column -> Run, of those that worked."""
        row = self.found.figure(f"{trace}, {equal}", "%")
        done = {}
        with contextlib.ExitStack() as stack:
            for run in runs:
                failed = self.bench.attempt(self._begin, run, trace, stack)
                if failed:
                    row.add(run.column, failed)
            for run in (r for r in runs if r.process):
                result = self.bench.attempt(self._finish, run)
                row.add(run.column, result)
                if not isinstance(result, Trouble):
                    done[run.column] = run
        return done

    def _begin(self, run, trace, stack):
        run.server = stack.enter_context(run.start())
        run.empty_bytes, _ = self._state(run.server)
        words = [*self._words(trace), "server", run.server.port, *run.arguments]
        process = self._start_program(words, self.bench.client_processor)
        stack.callback(self._end, process)
        run.process = process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def _finish(self, run):
        """The misses in percent; or a Trouble."""
        output, complaint = run.process.communicate()
        if run.process.returncode != 0:
            return Trouble(complaint.decode(errors="replace").strip() or f"ended with {run.process.returncode}")
        result = json.loads(output)
        _, run.keys = self._state(run.server)
        run.keys = result.get("keys_mean", run.keys)
        run.resident_bytes = run.server.resident_bytes()
        run.misses = result["misses"]
        run.percent = 100 * run.misses / (result["hits"] + run.misses)
        return run.percent

    @staticmethod
    def _state(server):
        """Bytes in use as the server counts them, and keys."""
        if isinstance(server, Memcached):
            stats = server.stats()
            return int(stats["bytes"]), int(stats["curr_items"])
        with server.wire() as wire:
            return int(wire.info("memory")["used_memory"]), wire.ask("DBSIZE")

    def _compute(self, trace, capacity=None):
        """The misses of exact LRU, of SIEVE and of Belady's optimum."""
        words = [*self._words(trace), "offline", "--capacity", capacity or self.capacity]
        process = self._start_program(words, self.bench.client_processor)
        output, complaint = process.communicate()
        if process.returncode != 0:
            raise CannotRun(f"bench_hit_ratio: {complaint.decode(errors='replace').strip()}")
        return json.loads(output)

    # ---- the shadow list

    def _foretell(self, limit):
        """How many points the misses that Mayfly foretells for twice the memory are off those with twice the memory."""
        for policy in (LRU, S3FIFO):
            of = "LRU" if policy == LRU else "S3-FIFO"
            off = self.found.figure(f"misses foretold for twice the memory, off by at most, {of}", "points", at_most(2), main=True)
            worst = []
            for trace in self.traces:
                if policy == LRU:
                    self.bench.progress.step(f"{trace}, {limit // MIB} MiB and twice that")
                result = self.bench.attempt(self._foretell_one, trace, policy, limit)
                if isinstance(result, Trouble):
                    off.add(OURS, result)
                    continue
                row = self.found.figure(f"{trace}, {2 * limit // MIB} MiB, {of}", "%")
                for column, percent in zip((OURS, f"{OURS} foretold"), result):
                    row.add(column, percent)
                worst.append(abs(result[0] - result[1]))
            if worst:
                off.add(OURS, max(worst))

    def _foretell_one(self, trace, policy, limit):
        """The misses in percent with twice the memory: as they are, and as foretold with once the memory."""
        spec = next(s for s in self.bench.specs if s.name == OURS)
        fields = ("keyspace_hits", "hits_at_twice_the_memory")
        percents = []
        with contextlib.ExitStack() as stack:
            processes = []
            for times in (2, 1):
                options = {"maxmemory-policy": policy, "maxmemory": times * limit, "shadow-list": "yes" if times == 1 else "no"}
                server = stack.enter_context(self._start_redis(spec, options))
                words = [*self._words(trace), "--batch", FORETELLING_BATCH, "server", server.port, "--reset-stat"]
                process = self._start_program(words, self.bench.client_processor)
                stack.callback(self._end, process)
                processes.append((server, process))
            for (server, process), field in zip(processes, fields):
                _, complaint = process.communicate()
                if process.returncode != 0:
                    raise ServerFailed(complaint.decode(errors="replace").strip())
                with server.wire() as wire:
                    stats = wire.info("stats")
                asked = int(stats["keyspace_hits"]) + int(stats["keyspace_misses"])
                percents.append(100 * (1 - int(stats[field]) / asked))
        return percents

    # ---- figures beside the misses

    def _add_best(self, equal_memory):
        """S3-FIFO beside the best policy of the other server, and beside what the optimum would miss with as many keys."""
        if self.other is None:
            return
        worst = []
        for trace, done in equal_memory.items():
            columns = [column_of(OURS, S3FIFO), *(column_of(self.other, policy) for policy in (LRU, LFU))]
            if not set(columns) <= done.keys():
                continue
            ours, *others = (done[column] for column in columns)
            best = min(run.misses for run in others)
            optimum = self._compute(trace, max(int(ours.keys), 1))["belady"]
            row = self.found.figure(f"misses / those of {self.other}'s best policy, {trace}, equal memory", "times")
            row.add(column_of(OURS, S3FIFO), ours.misses / best)
            row.add("optimum", optimum / best)
            worst.append(ours.misses / best)
        if worst:
            name = f"misses of S3-FIFO / those of {self.other}'s best policy, worst trace, equal memory"
            self.found.figure(name, "times", at_most(0.96), main=True).add(OURS, max(worst))

    def _add_memory(self, done, limit):
        per_key = self.found.figure(f"memory limit / keys held, {MAIN}", "B")
        empty = self.found.figure("in use by the empty server, as it counts", "MiB")
        resident = self.found.figure(f"resident at the end, {MAIN}", "MiB")
        for run in done.values():
            per_key.add(run.column, limit / max(run.keys, 1))
            empty.add(run.column, run.empty_bytes / MIB)
            resident.add(run.column, run.resident_bytes / MIB)

    def _add_keys(self, done):
        off = self.found.figure(f"keys held, off {self.capacity:,} by, {MAIN}", "%")
        for run in done.values():
            off.add(run.column, 100 * abs(run.keys - self.capacity) / self.capacity)

    def _add_main(self, equal_memory):
        """The figures with targets, with no columns that other sections lack."""
        done = equal_memory[MAIN]
        name = f"misses of LRU, {MAIN}, equal memory"
        lru = self.found.figure(name, "%", within(0.9, self.other), main=True, front=name)
        best = self.found.figure(f"misses of S3-FIFO (LFU in the others), {MAIN}, equal memory", "%", main=True)
        for name in (s.name for s in self.bench.specs):
            for row, policy in ((lru, LRU), (best, S3FIFO if name == OURS else LFU)):
                if column_of(name, policy) in done:
                    row.add(name, done[column_of(name, policy)].percent)
        worst = self.found.figure("misses of SIEVE / those of LRU, most of all Zipf traces", "times", at_most(1))
        ratios = []
        for done in filter(None, map(equal_memory.get, ZIPF)):
            if {OURS, column_of(OURS, SIEVE)} <= done.keys():
                ratios.append(done[column_of(OURS, SIEVE)].misses / done[OURS].misses)
        if ratios:
            worst.add(OURS, max(ratios))

    def _add_differing(self, equal_keys, computed):
        """LRU and SIEVE are said to be exact, so they must miss exactly as often as was computed."""
        row = self.found.figure("misses more or fewer than exact LRU and SIEVE have", "", at_most(0), main=True)
        pairs = ((OURS, "lru"), (column_of(OURS, SIEVE), "sieve"))
        runs = [(equal_keys[t].get(column), computed[t][name]) for t in self.traces for column, name in pairs]
        if all(run for run, _ in runs):
            row.add(OURS, sum(abs(run.misses - misses) for run, misses in runs))


def run(bench):
    return Section(bench).run()

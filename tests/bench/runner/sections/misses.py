"""How often caches miss on the same requests, at equal memory and at equal numbers of keys."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
from dataclasses import dataclass

from figures import OURS, Figures, Trouble, at_most, within
from servers import Server, ServerFailed, Spec, child_setup

TITLE = "Misses"
ABOUT = """An application that asks for a key and stores it on a miss: 2.2M requests over 1M keys with values of 64 bytes, of which
the last 1.2M count, the same for all (one seed). Zipf 0.7, 0.9 and 1.1; Zipf 0.9 with scans (half as many requests
again go to keys in order); Zipf 0.9 whose most popular keys change. First at equal maxmemory, in which Redis holds
about 10 % of the keys, then at 10 % of the keys each (Redis by adjusting maxmemory all the time, memcached by -m and
the size of its chunks, as near as they come). Beside them exact LRU, SIEVE and Belady's optimum, computed."""
SECONDS = (200, 25)
NEEDS = ""

MIB = 2**20
VALUE_BYTES = 64
LRU, SIEVE = "allkeys-lru", "allkeys-sieve"
TRACES = {
    "Zipf 0.7": ("--exponent", 0.7),
    "Zipf 0.9": ("--exponent", 0.9),
    "Zipf 1.1": ("--exponent", 1.1),
    "Zipf 0.9 and scans": ("--kind", "scan"),
    "Zipf 0.9, shifting": ("--kind", "shift"),
}
# The one that the targets are for.
MAIN = "Zipf 0.9"
MEMCACHED = "memcached"
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
    keys: float = 0
    resident_bytes: int = 0


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
        self.traces = TRACES if not bench.quick else {t: TRACES[t] for t in list(TRACES)[1::2]}
        self.found = Figures()

    def run(self):
        self.bench.progress.section(TITLE, 1 + 2 * len(self.traces))
        self.bench.progress.step(f"the memory in which redis holds {self.capacity:,} keys")
        limit = -(-self._memory_of_redis() // MIB) * MIB
        equal_memory = f"{limit // MIB} MiB each"
        ratios = []
        for trace in self.traces:
            self.bench.progress.step(f"{trace}, {equal_memory}")
            done = self._replay(trace, equal_memory, self._runs("maxmemory", limit))
            if OURS in done and f"{OURS} sieve" in done and trace.startswith("Zipf") and trace[-1].isdigit():
                ratios.append(done[f"{OURS} sieve"].misses / done[OURS].misses)
            if trace == MAIN:
                self._add_main(done)
                self._add_memory(done, limit, trace)
        worst = self.found.figure("SIEVE's misses / LRU's, the worst of the Zipf traces", "times", at_most(1), main=True)
        if ratios:
            worst.add(OURS, max(ratios))
        equal_keys = f"{self.capacity:,} keys each"
        differing = self.found.figure("misses beside those of exact LRU and SIEVE, all traces", "", at_most(0), main=True)
        for trace in self.traces:
            self.bench.progress.step(f"{trace}, {equal_keys}")
            done = self._replay(trace, equal_keys, self._runs("keys", self.capacity))
            self._add_computed(trace, equal_keys, done, differing)
            if trace == MAIN:
                self._add_keys(done)
        return self.found

    def _memory_of_redis(self):
        spec = next((s for s in self.bench.specs if s.name != OURS), None)
        if spec is None:
            raise ServerFailed("no server to compare with")
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
            second = ("sieve", SIEVE) if ours else ("lfu", "allkeys-lfu")
            for column, policy in ((spec.name, LRU), (f"{spec.name} {second[0]}", second[1])):
                options = {"maxmemory-policy": policy, "maxmemory": amount if kind == "maxmemory" else 0}
                if ours and kind == "keys":
                    options["maxkeys"] = amount
                hold = ("--hold-keys", amount) if kind == "keys" and not ours else ()
                runs.append(Run(column, lambda s=spec, o=options: self._start_redis(s, o), hold))
        words = self._memcached_for_keys(amount) if kind == "keys" else ("-m", amount // MIB)
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
    def _memcached_for_keys(keys):
        """Memory comes in pages of 1 MiB, cut into chunks of one size: the two that come nearest to a number of keys."""
        least = -(-MEMCACHED_ITEM // 8) * 8
        pairs = ((chunk, pages) for chunk in range(least, 3 * least, 8) for pages in range(2, 65))
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
        return 100 * run.misses / (result["hits"] + run.misses)

    @staticmethod
    def _state(server):
        """Bytes in use as the server counts them, and keys."""
        if isinstance(server, Memcached):
            stats = server.stats()
            return int(stats["bytes"]), int(stats["curr_items"])
        with server.wire() as wire:
            return int(wire.info("memory")["used_memory"]), wire.ask("DBSIZE")

    # ---- figures beside the misses

    def _add_main(self, done):
        """The same once more, without columns that no other section has: for the README."""
        first = next(s.name for s in self.bench.specs if s.name != OURS)
        lru = self.found.figure(f"misses, LRU, {MAIN}, equal memory", "%", within(0.9, first), main=True)
        other = self.found.figure(f"misses, SIEVE beside LFU, {MAIN}, equal memory", "%", main=True)
        requests = self.keys * 12 // 10
        for row, names in ((lru, (OURS, first)), (other, (f"{OURS} sieve", f"{first} lfu"))):
            for column, name in zip((OURS, first), names):
                if name in done:
                    row.add(column, 100 * done[name].misses / requests)

    def _add_memory(self, done, limit, trace):
        per_key = self.found.figure(f"memory limit / keys held, {trace}", "B")
        empty = self.found.figure("in use by the empty server, as it counts", "MiB")
        resident = self.found.figure(f"resident at the end, {trace}", "MiB")
        for run in done.values():
            per_key.add(run.column, limit / max(run.keys, 1))
            empty.add(run.column, run.empty_bytes / MIB)
            resident.add(run.column, run.resident_bytes / MIB)

    def _add_keys(self, done):
        off = self.found.figure(f"keys held beside {self.capacity:,}, {MAIN}", "%")
        for run in done.values():
            off.add(run.column, 100 * abs(run.keys - self.capacity) / self.capacity)

    def _add_computed(self, trace, equal, done, differing):
        words = [*self._words(trace), "offline", "--capacity", self.capacity]
        process = self._start_program(words, self.bench.client_processor)
        output, complaint = process.communicate()
        row = self.found.figure(f"{trace}, {equal}", "%")
        if process.returncode != 0:
            row.add("optimum", Trouble(complaint.decode(errors="replace").strip()))
            return
        computed = json.loads(output)
        for column, name in (("LRU", "lru"), ("SIEVE", "sieve"), ("optimum", "belady")):
            row.add(column, 100 * computed[name] / computed["requests"])
        pairs = ((OURS, "lru"), (f"{OURS} sieve", "sieve"))
        if all(column in done for column, _ in pairs):
            sums = differing.samples.setdefault(OURS, [0])
            sums[0] += sum(abs(done[column].misses - computed[name]) for column, name in pairs)


def run(bench):
    return Section(bench).run()

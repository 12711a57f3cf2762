"""What a section gets to work with: servers, measuring programs, sizes, progress."""

import contextlib
import json
import os
import subprocess
import sys

import machine
from client import Client
from figures import BARE, Figures, Trouble
from servers import Server, ServerFailed, Spec, child_setup
from wire import ErrorReply


class CannotRun(Exception):
    """A whole section that cannot be measured here; its text says why. Shown in the table."""


class Bench:
    def __init__(self, specs, programs, folder, quick, progress, rounds=0):
        # The servers, ours first.
        self.specs = specs
        # The folder of the measuring programs, bench_*.
        self.programs = programs
        # A scratch folder, removed at the end.
        self.folder = folder
        self.quick = quick
        # How many rounds instead of a section's own number, where the section allows it; 0: the section's.
        self.rounds = rounds
        self.progress = progress
        self.server_processor, self.client_processor = machine.processors()
        self.file_limit = machine.raise_file_limit()

    def choose(self, full, quick):
        """A size: the one of a full run, or that of --quick."""
        return quick if self.quick else full

    @staticmethod
    def median_of(rounds):
        """For the name of a figure that the machine disturbs, such as a longest wait: says what the number is."""
        return f", median of {rounds} rounds" if rounds > 1 else ""

    @staticmethod
    def rotated(servers, turn):
        """The servers in another order each round, so that none always comes first."""
        first = turn % max(len(servers), 1)
        return servers[first:] + servers[:first]

    def program(self, name):
        """The path of a measuring program of tests/bench."""
        path = os.path.join(self.programs, f"bench_{name}")
        if not os.path.exists(path):
            raise CannotRun(f"bench_{name} is not built")
        return path

    @property
    def client(self):
        """The load generator and latency probe."""
        return Client(self.program("client"), self.client_processor)

    def start(self, spec, processors=None, **options):
        """A server, as a context manager, on the servers' processor or on those given. Raises ServerFailed."""
        return Server(spec, self.folder, processors or self.server_processor, **options)

    def start_bare(self):
        """The server that looks nothing up, tests/bench/bare.cc."""
        return self.start(Spec(BARE, f"{self.program('bare')} {{port}}"))

    def starts(self, bare=False):
        """(name, function that starts the server) of all servers; the bare server is among them if asked for."""
        starts = [(s.name, lambda s=s: self.start(s)) for s in self.specs]
        return starts + [(BARE, self.start_bare)] if bare else starts

    @contextlib.contextmanager
    def all_servers(self, figures_of_failures=(), bare=False):
        """All servers at once, for interleaved rounds: a list of those that started. The others' columns get a Trouble in
        each of the figures given."""
        with contextlib.ExitStack() as stack:
            running = []
            for name, start in self.starts(bare):
                try:
                    running.append(stack.enter_context(start()))
                except ServerFailed as problem:
                    for figure in figures_of_failures:
                        figure.add(name, Trouble(str(problem)))
            yield running

    @staticmethod
    def attempt(measure, *arguments):
        """The measurement's result; a Trouble if the server failed, refused, or went away."""
        try:
            return measure(*arguments)
        except (ServerFailed, ErrorReply, OSError) as problem:
            return Trouble(str(problem))

    def fill(self, server, rows, **load):
        """Inserts keys; False, with a Trouble in all of the rows, if the server did not take and keep them all."""
        got = self.attempt(self._fill, server, load)
        if isinstance(got, Trouble):
            for row in rows:
                row.add(server.name, got)
        return not isinstance(got, Trouble)

    def _fill(self, server, load):
        got = self.client.load(server, **load)
        if isinstance(got, Trouble):
            return got
        with server.wire() as wire:
            held = wire.ask("DBSIZE")
        wanted = load.get("first", 0) + load["keys"]
        return Trouble(f"holds {held:,} of {wanted:,} keys") if held != wanted else got

    def ask_into(self, row, server, **ask):
        """Measures the server's CPU microseconds per request once, into the row. Every GET has to be a hit."""
        got = self.attempt(lambda: self.client.ask(server, **ask))
        if isinstance(got, dict) and ask.get("command") == "get" and got["hits"] != got["requests"]:
            got = Trouble(f"{got['hits']:,} of {got['requests']:,} were hits")
        row.add(server.name, got["cpu_us"] if isinstance(got, dict) else got)

    @staticmethod
    def lack_of_memory(size, what):
        """A Trouble if `size` more bytes are not available, else None."""
        free = machine.available_bytes()
        if free >= size:
            return None
        return Trouble(f"{what} need about {size / 2**30:.1f} GiB of memory, {free / 2**30:.1f} are left")

    def need_memory(self, size, what):
        """The same for a whole section: raises CannotRun."""
        lack = self.lack_of_memory(size, what)
        if lack:
            raise CannotRun(lack.text)

    def lack_of_files(self, connections):
        """A Trouble if that many connections cannot be open, else None. The server needs a few more files."""
        wanted = connections + 150
        if self.file_limit >= wanted:
            return None
        return Trouble(f"{connections:,} connections need {wanted:,} open files (ulimit -n); {self.file_limit:,} are allowed")

    def run_json(self, name, *arguments):
        """Runs a measuring program that needs no server, pinned like a server, and returns the JSON that it prints."""
        return self._json(name, [self.program(name), *map(str, arguments)])

    def run_script(self, name, *arguments):
        """As run_json, for a Python program of tests/bench."""
        script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), f"{name}.py")
        return self._json(name, [sys.executable, script, *map(str, arguments)])

    def _json(self, name, words):
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=child_setup(self.server_processor),
        )
        if done.returncode != 0:
            raise CannotRun(f"{name}: {done.stderr.decode(errors='replace').strip() or done.returncode}")
        return json.loads(done.stdout)

    def run_section(self, section):
        """A section's figures; a Trouble if the whole section cannot run."""
        try:
            found = section.run(self)
        except (CannotRun, ServerFailed) as problem:
            return Trouble(str(problem))
        return found.all() if isinstance(found, Figures) else list(found)

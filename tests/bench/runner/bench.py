"""What a section gets to work with: servers, measuring programs, sizes, progress."""

import contextlib
import json
import os
import subprocess

import machine
from client import Client
from figures import FLOOR, Figures, Trouble
from servers import Server, ServerFailed, Spec, child_setup


class CannotRun(Exception):
    """A whole section that cannot be measured here; its text says why. Shown in the table."""


class Bench:
    def __init__(self, specs, programs, folder, quick, progress):
        # The servers, ours first.
        self.specs = specs
        # The folder of the measuring programs, bench_*.
        self.programs = programs
        # A scratch folder, removed at the end.
        self.folder = folder
        self.quick = quick
        self.progress = progress
        self.server_processor, self.client_processor = machine.processors()
        self.file_limit = machine.raise_file_limit()

    def choose(self, full, quick):
        """A size: the one of a full run, or that of --quick."""
        return quick if self.quick else full

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

    def start(self, spec, **options):
        """A server, as a context manager. Raises ServerFailed."""
        return Server(spec, self.folder, self.server_processor, **options)

    def start_floor(self):
        """The server that looks nothing up."""
        return self.start(Spec(FLOOR, f"{self.program('floor')} {{port}}"))

    @contextlib.contextmanager
    def all_servers(self, figures_of_failures=(), floor=False):
        """All servers at once, for interleaved rounds: a list of those that started. The others' columns get a Trouble in
        each of the figures given."""
        with contextlib.ExitStack() as stack:
            running = []
            starts = [(s.name, lambda s=s: self.start(s)) for s in self.specs]
            if floor:
                starts.append((FLOOR, self.start_floor))
            for name, start in starts:
                try:
                    running.append(stack.enter_context(start()))
                except ServerFailed as problem:
                    for figure in figures_of_failures:
                        figure.add(name, Trouble(str(problem)))
            yield running

    def need_memory(self, size, what):
        """Raises CannotRun where `size` more bytes are not to be had."""
        free = machine.available_bytes()
        if free < size:
            raise CannotRun(f"{what} need about {size / 2**30:.1f} GiB of memory, {free / 2**30:.1f} are left")

    def run_json(self, name, *arguments):
        """Runs a measuring program that needs no server, pinned like a server, and returns the JSON that it prints."""
        done = subprocess.run(
            [self.program(name), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=child_setup(self.server_processor),
        )
        if done.returncode != 0:
            raise CannotRun(f"bench_{name}: {done.stderr.decode(errors='replace').strip() or done.returncode}")
        return json.loads(done.stdout)

    def run_section(self, section):
        """A section's figures; a Trouble where the whole section cannot run."""
        try:
            found = section.run(self)
        except (CannotRun, ServerFailed) as problem:
            return Trouble(str(problem))
        return found.all() if isinstance(found, Figures) else list(found)

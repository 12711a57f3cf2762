"""bench_client, the load generator and latency probe, as Python calls. Each returns what it printed, or a Trouble."""

import contextlib
import json
import os
import subprocess

from figures import Trouble
from servers import child_setup, cpu_seconds


class Client:
    def __init__(self, program, processor):
        self._program = program
        self._processor = processor

    def _start(self, mode, port, options):
        words = [self._program, mode, str(port)]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=child_setup(self._processor),
        )

    @contextlib.contextmanager
    def _running(self, mode, port, options):
        """The process, ended at the latest when the caller is done with it."""
        process = self._start(mode, port, options)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def _result(self, process):
        """Closes the program's standard input and returns its answer: an object, or a Trouble with its error text."""
        output, complaint = process.communicate()
        if process.returncode != 0:
            return Trouble(complaint.decode(errors="replace").strip() or f"the client ended with {process.returncode}")
        return json.loads(output.splitlines()[-1])

    def load(self, server, **options):
        """Inserts keys: keys, first, value_bytes (A or A-B), ttl_ms (0, A or A-B), at_ms (a deadline of the wall clock)."""
        with self._running("load", server.port, options) as process:
            return self._result(process)

    def ask(self, server, **options):
        """Sends requests over many connections: command, connections, depth, requests or seconds, keys, value_bytes. The result has
        cpu_us, the server's processor time per request, without that for connecting and closing, user_us, the part of
        it outside the kernel, and client_us, this program's own."""
        return self._timed("ask", server, options)

    def deliver(self, server, **options):
        """Publishes to subscribers: subscribers, patterns, suffixes, depth, messages, value_bytes. The result has cpu_us,
        the server's processor time per delivery, and user_us, the part of it outside the kernel."""
        return self._timed("deliver", server, options)

    @contextlib.contextmanager
    def listening(self, server, **options):
        """A subscriber beside other work: channel, at_ms, expect, give_up_ms; yields a function that waits for its
        result."""
        with self._running("listen", server.port, options) as process:
            process.stdout.readline()
            yield lambda: self._result(process)

    def volley(self, server, path, **options):
        """As memtier_benchmark over a unix socket: command, connections, depth, requests, keys, value_bytes, memcached. The result
        also has cpu_us and user_us, as of ask."""
        return self._timed("volley", server, options, path)

    def _timed(self, mode, server, options, address=None):
        with self._running(mode, address or server.port, options) as process:
            # All are connected and have had a first reply.
            if process.stdout.readline().strip() != b"ready":
                return self._result(process)
            before, user_before, own_before = server.cpu_s(), server.user_s(), cpu_seconds(process.pid)
            process.stdin.write(b"go\n")
            process.stdin.flush()
            line = process.stdout.readline()
            after, user_after = server.cpu_s(), server.user_s()
            if not line:
                return self._result(process)
            own_after = cpu_seconds(process.pid)
            self._result_is_ignored(process)
        found = json.loads(line)
        found["cpu_us"] = (after - before) / found["requests"] * 1e6
        found["user_us"] = (user_after - user_before) / found["requests"] * 1e6
        found["client_us"] = (own_after - own_before) / found["requests"] * 1e6
        return found

    @staticmethod
    def _result_is_ignored(process):
        """The answer has been read; closing the program's input lets it close its connections."""
        process.communicate()

    def probe(self, server, **options):
        """Asks 1,000 times a second for an absent key: seconds, or until_gone (a deadline in wall ms) with below_bytes."""
        with self._running("probe", server.port, options) as process:
            return self._result(process)

    @contextlib.contextmanager
    def probing(self, server, **options):
        """A probe beside other work; yields a function that ends it and returns its result."""
        with self._running("probe", server.port, {"until_eof": 1, **options}) as process:
            yield lambda: self._result(process)

    @contextlib.contextmanager
    def traffic(self, port, **options):
        """Requests at a steady rate, also while no server is there: rate, write_share, keys, exponent, seed, value_bytes, write, members,
        slice_ms. Yields a function that ends it and returns what happened in each slice of time."""
        with self._running("traffic", port, options) as process:
            process.stdout.readline()
            yield lambda: self._result(process)

    @contextlib.contextmanager
    def beside_it(self):
        """This program runs on the clients' processor meanwhile, so that the server never waits for it, nor it for the server."""
        everywhere = os.sched_getaffinity(0)
        if self._processor is not None:
            os.sched_setaffinity(0, {self._processor})
        try:
            yield
        finally:
            os.sched_setaffinity(0, everywhere)

    def stampede(self, server, **options):
        """Many callers that want one value: way (get, lock, take, early, stale), connections, compute_ms, ttl_ms, seconds."""
        with self._running("stampede", server.port, options) as process:
            return self._result(process)

    def tasks(self, server, **options):
        """Delayed tasks, taken from a stream: tasks, value_bytes, lead_ms, spread_ms, give_up_ms, herd."""
        with self._running("tasks", server.port, options) as process:
            return self._result(process)

    def pace(self, server, **options):
        """Requests at random times, each when it is due: rate, seconds, warm_up, connections, write_share, keys, exponent, value_bytes,
        ttl_ms, new_keys, beside (a request), beside_ms, syncs. The result has percentiles of the waits."""
        with self._running("pace", server.port, options) as process:
            return self._result(process)

    @contextlib.contextmanager
    def storm(self, server, **options):
        """Clients that connect at one moment: connections. Yields the result while they are still connected."""
        with self._running("storm", server.port, options) as process:
            line = process.stdout.readline()
            yield json.loads(line) if line else self._result(process)

    @contextlib.contextmanager
    def holding(self, server, connections):
        """Idle connections while the block runs; yields None, or a Trouble where not all could be opened."""
        with self._running("hold", server.port, {"connections": connections}) as process:
            if process.stdout.readline().strip() == b"ready":
                yield None
            else:
                yield self._result(process)

"""What goes wrong during a soak: clients that leave, do not read or are killed, a daemon that is stopped, a wall clock that is set,
memory that ends, options that change, databases that are flushed and swapped."""

import mmap
import os
import resource
import signal
import socket
import struct
import time

from load import Connection, encode

HOUR_NS = 3600 * 10**9
CHANGES = (
    ("maxmemory-policy", ("allkeys-lru", "allkeys-lfu", "allkeys-sieve", "allkeys-s3fifo", "volatile-ttl", "allkeys-random")),
    ("maxmemory", ("16mb", "40mb", "100mb", "0")),
    ("maxkeys", ("0", "0", "2000")),
    ("expire-resolution-ms", ("1", "50")),
    ("hash-max-listpack-entries", ("4", "512")),
    ("set-max-intset-entries", ("4", "512")),
    ("zset-max-listpack-entries", ("4", "128")),
    ("list-max-listpack-size", ("-2", "2", "-5")),
    ("shadow-list", ("yes", "no")),
    ("latency-tracking", ("yes", "no")),
    ("slowlog-log-slower-than", ("0", "10000", "-1")),
    ("notify-keyspace-events", ("KEA", "")),
    ("client-output-buffer-limit", ("normal 0 0 0", "normal 1mb 500kb 1")),
    ("expire-log-size", ("0", "1mb")),
    ("loglevel", ("debug", "notice")),
)
# What every run ends with: those of the options above that a count or the memory depends on.
AFTERWARDS = (
    ("maxmemory", "0"),
    ("maxkeys", "0"),
    ("shadow-list", "no"),
    ("expire-log-size", "0"),
    ("notify-keyspace-events", ""),
    ("client-output-buffer-limit", "normal 0 0 0"),
    ("expire-resolution-ms", "1"),
    ("slowlog-log-slower-than", "10000"),
    ("loglevel", "notice"),
)


class Clock:
    """The wall clock of the daemon, beside the real one: a file that tests/soak/clock.c reads."""

    def __init__(self, path):
        with open(path, "w+b") as file:
            file.write(bytes(8))
            file.flush()
            self._page = mmap.mmap(file.fileno(), 8)

    def set(self, offset_ns):
        self._page[:8] = struct.pack("<q", offset_ns)


class Faults:
    def __init__(self, daemon, dice, clock):
        self.daemon, self.dice, self.clock = daemon, dice, clock
        self.counts = {}
        self.stalled = []
        self.kinds = [
            self.leave_within_a_request,
            self.leave_within_a_reply,
            self.stall,
            self.stop_the_daemon,
            self.set_the_clock,
            self.change_an_option,
            self.change_an_option,
            self.kill_clients,
            self.swap,
            self.flush,
            self.pause,
            self.wait_in_vain,
            self.busy_script,
        ]
        # The sanitizers end a process when there are no pages for their own use. With them, the tests of failing allocations
        # (tests/commands/memory/no_memory_test.cc) do what this does.
        if daemon.info("memory")["mem_allocator"].startswith("jemalloc"):
            self.kinds.append(self.take_the_memory)

    def inject(self):
        """One of them, by chance."""
        fault = self.dice.choice(self.kinds)
        self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
        fault()

    def ask(self, *words):
        connection = Connection(self.daemon.port)
        try:
            return connection.ask_all([words])[0]
        finally:
            connection.close()

    def leave_within_a_request(self):
        with socket.create_connection(("127.0.0.1", self.daemon.port), 10) as wire:
            wire.sendall(encode(("SET", "s:1", b"x" * 200_000))[: self.dice.randrange(150_000)])
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset

    def leave_within_a_reply(self):
        with socket.create_connection(("127.0.0.1", self.daemon.port), 10) as wire:
            wire.sendall(encode(("SCAN", 0, "COUNT", 1000)) * 200)
            wire.recv(100)

    def stall(self):
        while len(self.stalled) > 5:
            self.stalled.pop(0).close()
        wire = socket.create_connection(("127.0.0.1", self.daemon.port), 2)
        try:
            wire.sendall(encode(("LRANGE", "l:1", 0, -1)) * 500 + encode(("SUBSCRIBE", "c1", "__keyevent@0__:expired")))
        except OSError:
            pass  # the daemon reads no more of it: as it should
        self.stalled.append(wire)

    def stop_the_daemon(self):
        os.kill(self.daemon.pid, signal.SIGSTOP)
        time.sleep(self.dice.random())
        os.kill(self.daemon.pid, signal.SIGCONT)

    def set_the_clock(self):
        self.clock.set(self.dice.choice((0, 1, -1, 10, -10, 24 * 30)) * HOUR_NS // 10)

    def take_the_memory(self):
        """For a moment the kernel gives the process no more pages than it has."""
        limits = resource.prlimit(self.daemon.pid, resource.RLIMIT_DATA)
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as status:
            used = next(int(line.split()[1]) for line in status if line.startswith("VmData:")) << 10
        resource.prlimit(self.daemon.pid, resource.RLIMIT_DATA, (used + (64 << 10), limits[1]))
        time.sleep(0.3)
        resource.prlimit(self.daemon.pid, resource.RLIMIT_DATA, limits)

    def change_an_option(self):
        name, values = self.dice.choice(CHANGES)
        self.ask("CONFIG", "SET", name, self.dice.choice(values))

    def kill_clients(self):
        self.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def swap(self):
        self.ask("SWAPDB", 0, self.dice.randrange(1, 3))

    def flush(self):
        self.ask(self.dice.choice(("FLUSHALL", "FLUSHDB")), self.dice.choice(("ASYNC", "SYNC")))

    def pause(self):
        self.ask("CLIENT", "PAUSE", 200, self.dice.choice(("ALL", "WRITE")))

    def wait_in_vain(self):
        wire = socket.create_connection(("127.0.0.1", self.daemon.port), 2)
        wire.sendall(encode(("MULTI",)) + encode(("SET", "s:1", "x")) + encode(("EXEC",)) + encode(("WATCH", "s:2")))
        wire.sendall(encode(("CLIENT", "TRACKING", "on", "BCAST", "REDIRECT", 1)) + encode(("BLPOP", "nobody", 0)))
        self.stalled.append(wire)

    def busy_script(self):
        connection = Connection(self.daemon.port)
        try:
            connection.socket.sendall(encode(("EVAL", "while true do end", 0)))
            time.sleep(0.3)
            self.ask("SCRIPT", "KILL")
        finally:
            connection.close()

    def end(self):
        for wire in self.stalled:
            wire.close()
        self.stalled.clear()
        self.clock.set(0)
        self.ask("CLIENT", "UNPAUSE")
        for name, setting in AFTERWARDS:
            self.ask("CONFIG", "SET", name, setting)

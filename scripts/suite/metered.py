"""A Mayfly with a metrics port, some load for it, and what a check says: shared by metrics.py and page.py."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tests", "bench", "runner"))

from servers import free_port

PATIENCE_S = 60


class Failed(Exception):
    """A check that did not hold."""


def require(holds, what):
    if not holds:
        raise Failed(what)


def eventually(what, look):
    """What `look` returns, once that is true. Exceptions of the network count as not yet."""
    end = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError):
            seen = look()
            if seen:
                return seen
        require(time.monotonic() < end, f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.1)


def http(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
        return answer.read().decode()


def encode(*words):
    parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class Client:
    """Sends requests to a port and reads their replies: status lines, errors, integers, bulks, and after HELLO 3 maps, as
    lists, and verbatim texts."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._file = self._socket.makefile("rb")

    def __call__(self, *words):
        return self.pipeline([words])[0]

    def pipeline(self, requests):
        self._socket.sendall(b"".join(encode(*words) for words in requests))
        return [self._reply() for _ in requests]

    def _reply(self):
        line = self._file.readline()
        require(line.endswith(b"\r\n"), "the daemon has closed a connection")
        kind = line[:1]
        if kind in (b"*", b"%"):
            return [self._reply() for _ in range(int(line[1:]) * (2 if kind == b"%" else 1))]
        if kind not in (b"$", b"=") or line[1:2] == b"-":
            return line[:-2]
        text = self._file.read(int(line[1:]) + 2)[:-2]
        return text[len("txt:") :] if kind == b"=" else text

    def info(self):
        lines = self("INFO", "all").decode(errors="replace").split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def close(self):
        self._file.close()
        self._socket.close()


@contextlib.contextmanager
def process(words, folder, name):
    """A program that runs until the end of the block; what it printed is in <folder>/<name>.log."""
    with open(os.path.join(folder, name + ".log"), "wb") as log:
        running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        try:
            running.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


class Mayfly:
    """A daemon on free ports, for as long as a `with` block."""

    def __init__(self, program, *options):
        self._program, self._options = program, options
        self.port, self.metrics_port = free_port(), free_port()

    def __enter__(self):
        self._exit = contextlib.ExitStack()
        self.folder = self._exit.enter_context(tempfile.TemporaryDirectory())
        words = [self._program, "--port", str(self.port), "--bind", "127.0.0.1", "--metrics-port", str(self.metrics_port)]
        self.pid = self._exit.enter_context(process([*words, *self._options], self.folder, "mayfly")).pid
        eventually("/readyz", lambda: http(self.metrics_port, "/readyz") == "ready\n")
        return self

    def __exit__(self, *_):
        self._exit.close()


def some_work(client, turn):
    """Hits and misses of every reason, keys that expire soon and late, several types, errors, tags, a hot key."""
    requests = []
    for i in range(200):
        key = f"user:{turn % 50}:{i}"
        requests += [("SET", key, "v" * (i % 90), "PX", 30 + i * 40), ("GET", key), ("GET", f"user:{(turn + 40) % 50}:{i}")]
    for i, seconds in enumerate((5, 45, 400, 3_000, 20_000, 80_000, 500_000, 5_000_000)):
        requests += [("SET", f"later:{i}:{turn % 40}", "v", "EX", seconds), ("SET", f"shop:{i}", "x", "EX", seconds)]
    requests += [("GET", "front page")] * 60
    requests += [("SET", "front page", "html"), ("SADD", "set", turn), ("HSET", "hash", "f", turn), ("LPUSH", "list", turn)]
    requests += [("ZADD", "ranking", turn, turn % 100), ("SET", "tagged", "v", "TAGS", 1, "t"), ("INVALIDATE", "t"), ("GET", "tagged")]
    requests += [("SET", "gone", 1), ("DEL", "gone"), ("GET", "gone"), ("GET", "never"), ("NOSUCH",), ("INCR", "front page")]
    requests += [("AUTH", "wrong", "password")]
    client.pipeline(requests)


@contextlib.contextmanager
def load(port, pause_s=0.02):
    """`some_work` again and again, until the end of the block."""
    stop, problem = threading.Event(), []

    def work():
        client = Client(port)
        try:
            turn = 0
            while not stop.wait(pause_s):
                some_work(client, turn)
                turn += 1
        except Exception as error:
            problem.append(error)
        finally:
            client.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    require(not problem, f"the load ended: {problem}")


def checked(tally, name, check):
    """Runs a check as one step of the tally; it passed if it raised nothing. What it returns is printed."""
    started = time.monotonic()
    try:
        said = check()
    except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as problem:
        tally.step(name, 0, 1, time.monotonic() - started, f"{type(problem).__name__}: {problem}")
        return
    tally.step(name, 1, 0, time.monotonic() - started)
    if said:
        print(f"    {said}", flush=True)

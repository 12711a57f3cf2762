"""Servers as processes: started on a free port, pinned, waited for, measured, and ended whatever happens."""

import contextlib
import ctypes
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

from figures import BARE
from wire import ErrorReply, Wire

READY_S = 20
STOP_S = 20
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class ServerFailed(Exception):
    """A server that does not start, or that died."""


@dataclass(frozen=True)
class Spec:
    """A server to measure: its column's name and its command with {port}."""

    name: str
    command: str


def free_port():
    """An unused port, outside the range from which the kernel gives ports to clients."""
    for _ in range(1000):
        port = random.randrange(20000, 32000)
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise ServerFailed("no free port")


def cpu_seconds(pid):
    """Processor seconds of all threads of a process, to the nanosecond: the process's CPU clock, as the kernel numbers it."""
    return time.clock_gettime((~pid << 3) | 2)


def child_setup(processor):
    """For subprocess's preexec_fn: pins the child to a processor, or to several, and ends it if the runner is killed."""

    def setup():
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if processor is not None:
            os.sched_setaffinity(0, {processor} if isinstance(processor, int) else processor)

    return setup


def environment():
    """The environment without the variables that would change the daemon."""
    return {k: v for k, v in os.environ.items() if not k.startswith("MAYFLY_")}


class Server:
    """A running server, on a free port unless one is given. Use it with `with`, so that it is ended. `files`: descriptors that it
    inherits; `stop_s`: how long it may take to end."""

    def __init__(self, spec, folder, processor, wrapper=(), ready_s=READY_S, port=None, stop_s=STOP_S, files=()):
        self.name, self.port, self._stop_s = spec.name, port or free_port(), stop_s
        words = shlex.split(spec.command.replace("{port}", str(self.port)))
        if "/" in words[0]:
            words[0] = os.path.abspath(words[0])
        self._log = open(os.path.join(folder, f"{self.name}.log"), "wb")
        try:
            self._process = subprocess.Popen(
                [*wrapper, *words],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment(),
                start_new_session=True,
                pass_fds=files,
                preexec_fn=child_setup(processor),
            )
        except OSError as problem:
            self._log.close()
            raise ServerFailed(str(problem)) from problem
        try:
            self._wait_until_ready(ready_s)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def pid(self):
        return self._process.pid

    def wire(self):
        return Wire(self.port)

    def cpu_s(self):
        """Processor seconds of all its threads."""
        return cpu_seconds(self.pid)

    def user_s(self):
        """As cpu_s, but outside the kernel, and to the kernel's tick: 10 ms."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def forget_peak(self):
        """peak_bytes counts from now on."""
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def peak_bytes(self):
        """The most resident bytes that the process had at once."""
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) * 1024

    def settled_bytes(self):
        """Resident bytes once they no longer change (after 4 s at most), since allocators give memory back late: Mayfly's
        after a second."""
        time.sleep(1.5)
        last = self.resident_bytes()
        for _ in range(5):
            time.sleep(0.5)
            now = self.resident_bytes()
            if abs(now - last) < 64 * 1024:
                break
            last = now
        return self.resident_bytes()

    def kill(self):
        """Ends it at once."""
        self._process.kill()
        self.stop()

    def stop(self):
        process = self._process
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(self._stop_s)
            except subprocess.TimeoutExpired:
                pass
        # Whatever it has started is in its group, too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._log.close()

    def _wait_until_ready(self, ready_s):
        end = time.monotonic() + ready_s
        while not self._answers():
            code = self._process.poll()
            if code is not None or time.monotonic() > end:
                ended = f"ended with code {code}" if code is not None else f"no answer within {ready_s} s"
                raise ServerFailed(f"{ended}{self._last_words()}")
            time.sleep(0.02)

    def _answers(self):
        try:
            with Wire(self.port, 2) as wire:
                return self.name == BARE or wire.ask("PING") == "PONG"
        except ErrorReply as error:
            # A server with a password is ready, too.
            return str(error).startswith("NOAUTH")
        except OSError:
            return False

    def _last_words(self):
        with open(self._log.name, "rb") as file:
            lines = file.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

"""Runs a driver of tests/clients against two servers and compares what it reports.

A driver gets a port and a password. It prints one JSON line for each step, with the values and their types as its library
returned them. It may ask for a restart of the server with {"restart": true}; the answer is a line. A driver with sentinels may also
ask that the master be killed, with {"kill": true}; its restart starts the server that was killed.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "bench", "runner"))

import certificates
import sentinels
from servers import Server, Spec, free_port

PASSWORD = "pass-word"
# Several times what the longest takes on an idle machine.
LIMIT_S = 300


@dataclass(frozen=True)
class Driver:
    """A program of tests/clients, the steps that it must report, in order, and how often it restarts the server.

    `waiting` has the steps that cannot agree yet, and why. One that agrees all the same must be removed from there.
    `alone`: it uses what only Mayfly has, so there is nothing to compare; it checks itself what it sees. Then Mayfly may have
    `options`.
    `tls`: it connects by TLS, with a certificate of its own. It finds the files in the folder that the variable TLS_FILES
    names.
    `sentinels`: instead of a server there are a master, two replicas and three sentinels. The driver gets the ports of the
    sentinels, with commas, instead of a port.
    """

    name: str
    program: str
    path: str
    steps: tuple
    restarts: int = 0
    waiting: dict = field(default_factory=dict)
    alone: bool = False
    options: str = ""
    tls: bool = False
    sentinels: bool = False

    @property
    def folder(self):
        """The name of its scratch folder."""
        return os.path.basename(self.path).replace(".", "-") + ("-tls" if self.tls else "")


def compare(ours, theirs, driver):
    """The differences between the transcripts `ours` and `theirs` ([(step, saw)]), as a list of lines."""
    wrong = []
    for name, transcript in (("Mayfly", ours), ("redis-server", theirs)):
        ran = [step for step, _ in transcript]
        if ran != list(driver.steps):
            wrong.append(f"against {name} the steps were {', '.join(ran) or 'none'}")
    if wrong:
        return wrong
    for (step, saw), (_, wanted) in zip(ours, theirs):
        # Compared as texts, since in Python True equals 1 and 1.0.
        same = json.dumps(saw) == json.dumps(wanted)
        if step in driver.waiting and same:
            wrong.append(f"{step}: agrees now; take it out of `waiting` in the table of drivers")
        elif step not in driver.waiting and not same:
            wrong.append(f"{step}:")
            wrong += [
                f"  value {index}: {_short(a)} here, {_short(b)} from redis-server"
                for index, (a, b) in enumerate(zip(saw, wanted))
                if json.dumps(a) != json.dumps(b)
            ] or [f"  {len(saw)} values here, {len(wanted)} from redis-server"]
    return wrong


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 300 else text[:300] + "..."


def _end(process):
    """Kills a driver and the workers that it started: they are in its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Drive:
    """One driver against one server."""

    def __init__(self, spec, driver, env, folder):
        self._spec, self._driver, self._env, self._folder = spec, driver, env, folder
        self._port = self._driver_port = free_port()
        if driver.tls:
            files = os.path.join(folder, "certificates")
            certificates.make(files)
            self._driver_port = free_port()
            self._env = {**env, "TLS_FILES": files}
            self._spec = Spec(spec.name, spec.command + certificates.options(files, self._driver_port))

    def run(self):
        """Returns the transcript: [(step, saw)]. Raises RuntimeError with the end of the driver's messages if it fails."""
        self._server = self._start()
        errors = os.path.join(self._folder, f"{self._spec.name}.errors")
        with open(errors, "w+", encoding="utf-8", errors="replace") as said:
            try:
                transcript, restarts, code = self._listen(said)
            finally:
                self._server.stop()
            if code != 0:
                said.seek(0)
                last = transcript[-1][0] if transcript else "the start"
                raise RuntimeError(f"against {self._spec.name}: exit code {code} after «{last}»\n{said.read()[-4000:]}")
        if restarts != self._driver.restarts:
            raise RuntimeError(f"against {self._spec.name}: {restarts} restarts, not {self._driver.restarts}")
        return transcript

    def _listen(self, said):
        """Runs the driver. Returns the transcript, the number of restarts, and the exit code."""
        process = subprocess.Popen(
            [self._driver.program, os.path.join(ROOT, "tests", "clients", self._driver.path), str(self._driver_port), PASSWORD],
            env=self._env,
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
        )
        late = threading.Timer(LIMIT_S, _end, [process])
        late.start()
        transcript, restarts = [], 0
        try:
            for line in process.stdout:
                told = json.loads(line)
                if "restart" in told or "kill" in told:
                    restarts += int("restart" in told)
                    self._kill() if "kill" in told else self._restart()
                    process.stdin.write("\n")
                    process.stdin.flush()
                else:
                    transcript.append((told["step"], told["saw"]))
            return transcript, restarts, process.wait()
        finally:
            late.cancel()
            _end(process)
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def _start(self):
        if not self._driver.sentinels:
            return Server(self._spec, self._folder, None, port=self._port)
        program, sentinel = shlex.split(self._spec.command)[0], shutil.which("redis-server", path=self._env["PATH"])
        group = sentinels.Group(program, sentinel, self._folder, PASSWORD)
        self._driver_port = ",".join(map(str, group.sentinels))
        return group

    def _restart(self):
        if self._driver.sentinels:
            self._server.start_killed()
            return
        self._server.stop()
        self._server = self._start()

    def _kill(self):
        self._server.kill_master()


def run_driver(tally, driver, specs, env, work):
    """Runs a driver against both servers, Mayfly first, or against Mayfly alone. It passes if both transcripts are the same."""
    started = time.monotonic()
    folder = os.path.join(work, driver.folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        if driver.alone:
            specs = [Spec(specs[0].name, f"{specs[0].command} {driver.options}")]
        seen = [Drive(spec, driver, env, folder).run() for spec in specs]
        wrong = compare(seen[0], seen[-1], driver)
    except Exception as problem:
        wrong = [str(problem) if isinstance(problem, RuntimeError) else traceback.format_exc()]
    tally.step(driver.name, int(not wrong), int(bool(wrong)), time.monotonic() - started, "\n".join(wrong))


def selftest():
    sentinels.selftest()
    driver = Driver("a client", "sh", "a.sh", ("a", "--rdb"), waiting={"--rdb": "refused"})
    good = [("a", [1, "x"]), ("--rdb", ["refused"])]
    theirs = [("a", [1, "x"]), ("--rdb", ["OK"])]
    assert compare(good, theirs, driver) == [], compare(good, theirs, driver)
    firsts = [("a", [1, "y"]), ("a", [1]), ("a", [True, "x"]), ("b", [1, "x"])]
    for bad in ([], good[:1], [good[0], theirs[1]], *([first, good[1]] for first in firsts)):
        assert compare(bad, theirs, driver), bad

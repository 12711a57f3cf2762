"""Real clients: each runs the same steps against Mayfly and against redis-server, and must see the same.

A driver of tests/clients gets a port and a password, prints one JSON line for each step, with the values and their
types as its library returned them, and asks for a restart of the server with {"restart": true}; the answer is a line.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import traceback

import programs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "bench", "runner"))

from servers import Server, Spec, free_port

PASSWORD = "pass-word"
LIMIT_S = 120
DRIVERS = {
    "redis-cli and redis-benchmark": ("python3", "redis_cli.py"),
    "python3-redis": ("/usr/bin/python3", "redis_py.py"),
    "ruby-redis": ("ruby", "redis_rb.rb"),
    "php-redis": ("php", "phpredis.php"),
    "ioredis": ("node", "node/ioredis.js"),
    "redis (node), RESP3": ("node", "node/redis.js"),
}
STEPS = (
    "connects with name and password",
    "meets a wrong password",
    "runs a pool of 50",
    "sets with a TTL",
    "MGET",
    "SCAN",
    "pipeline",
    "binary values",
    "types of replies",
    "floats and ranges",
    "meets an error",
    "meets a wrong type",
    "meets an expiry",
    "reconnects after a restart",
)
CLI_STEPS = (
    "commands",
    "a session",
    "-3",
    "a wrong password",
    "--pipe",
    "--scan",
    "--bigkeys",
    "--memkeys",
    "--latency",
    "--stat",
    "MONITOR",
    "--rdb",
    "redis-benchmark",
    "reconnects after a restart",
)
# Steps that cannot agree yet, and why. A step that agrees all the same must be removed from here.
WAITING = {
    "--rdb": "there are no snapshots, and so it is refused",
}


def compare(ours, theirs, steps):
    """How the transcript `ours` ([(step, saw)]) differs from `theirs`: a list of lines."""
    wrong = []
    for name, transcript in (("Mayfly", ours), ("redis-server", theirs)):
        ran = [step for step, _ in transcript]
        if ran != list(steps):
            wrong.append(f"against {name} the steps were {', '.join(ran) or 'none'}")
    if wrong:
        return wrong
    for (step, saw), (_, wanted) in zip(ours, theirs):
        # Compared as texts, since in Python True equals 1 and 1.0.
        same = json.dumps(saw) == json.dumps(wanted)
        if step in WAITING and same:
            wrong.append(f"{step}: agrees now; take it out of WAITING in scripts/suite/clients.py")
        elif step not in WAITING and not same:
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


class Drive:
    """One driver against one server."""

    def __init__(self, spec, command, env, folder):
        self._spec, self._command, self._env, self._folder = spec, command, env, folder
        self._port = free_port()

    def run(self):
        """The transcript: [(step, saw)]. RuntimeError with the driver's last words when it fails."""
        server = self._start()
        errors = os.path.join(self._folder, f"{self._spec.name}.errors")
        with open(errors, "w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen(
                [*self._command, str(self._port), PASSWORD],
                env=self._env,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
            late = threading.Timer(LIMIT_S, process.kill)
            late.start()
            transcript, restarts = [], 0
            try:
                for line in process.stdout:
                    told = json.loads(line)
                    if "restart" in told:
                        restarts += 1
                        server.stop()
                        server = self._start()
                        process.stdin.write("\n")
                        process.stdin.flush()
                    else:
                        transcript.append((told["step"], told["saw"]))
                code = process.wait()
            finally:
                late.cancel()
                process.kill()
                process.wait()
                process.stdin.close()
                process.stdout.close()
                server.stop()
            if code != 0:
                said.seek(0)
                last = transcript[-1][0] if transcript else "the start"
                raise RuntimeError(f"against {self._spec.name}: exit code {code} after «{last}»\n{said.read()[-4000:]}")
        if restarts != 1:
            raise RuntimeError(f"against {self._spec.name}: {restarts} restarts, not one")
        return transcript

    def _start(self):
        return Server(self._spec, self._folder, None, port=self._port)


def run_client(tally, name, specs, env, work):
    started = time.monotonic()
    program, path = DRIVERS[name]
    folder = os.path.join(work, os.path.basename(path).replace(".", "-"))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [program, os.path.join(ROOT, "tests", "clients", path)]
    steps = CLI_STEPS if path == "redis_cli.py" else STEPS
    try:
        ours, theirs = (Drive(spec, command, env, folder).run() for spec in specs)
        wrong = compare(ours, theirs, steps)
    except Exception as problem:
        wrong = [str(problem) if isinstance(problem, RuntimeError) else traceback.format_exc()]
    tally.step(name, int(not wrong), int(bool(wrong)), time.monotonic() - started, "\n".join(wrong))


def install(work):
    """Installs the Debian packages, and unpacks what npm's lock file names under `work`. False if that fails."""
    script = os.path.join(ROOT, "scripts", "install-packages")
    lists = [["clients"]] if shutil.which("npm") else [["clients"], ["npm"]]
    if any(subprocess.run([script, *names], stdin=subprocess.DEVNULL).returncode != 0 for names in lists):
        return False
    folder, source = os.path.join(work, "node"), os.path.join(ROOT, "tests", "clients", "node")
    stamp = os.path.join(folder, "installed.json")
    with open(os.path.join(source, "package-lock.json"), encoding="utf-8") as file:
        lock = file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == lock:
                return True
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(source, name), folder)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(npm, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-2000:] + done.stderr[-2000:], flush=True)
        return False
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(lock)
    return True


def run(tally, daemon, jobs):
    print("Clients, each against Mayfly and redis-server", flush=True)
    work = os.path.join(ROOT, "build", "clients")
    if not install(work):
        tally.step("packages of the clients", 0, 1, 0.0)
        return
    env = programs.environment(ROOT)
    env["NODE_PATH"] = os.path.join(work, "node", "node_modules")
    env["LC_ALL"] = "C.UTF-8"
    limits = f"--port {{port}} --bind 127.0.0.1 --requirepass {PASSWORD}"
    redis = shutil.which("redis-server", path=env["PATH"]) or "redis-server"
    specs = (Spec("Mayfly", f"{daemon} {limits}"), Spec("redis-server", f"{redis} {limits} --save ''"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run_client, tally, name, specs, env, work) for name in DRIVERS]:
            done.result()
    for step, why in WAITING.items():
        print(f"  not compared: {step}: {why}", flush=True)


def selftest():
    steps = ("a", "--rdb")
    good = [("a", [1, "x"]), ("--rdb", ["refused"])]
    theirs = [("a", [1, "x"]), ("--rdb", ["OK"])]
    assert compare(good, theirs, steps) == [], compare(good, theirs, steps)
    firsts = [("a", [1, "y"]), ("a", [1]), ("a", [True, "x"]), ("b", [1, "x"])]
    for bad in ([], good[:1], [good[0], theirs[1]], *([first, good[1]] for first in firsts)):
        assert compare(bad, theirs, steps), bad

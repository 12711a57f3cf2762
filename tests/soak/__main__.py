"""A daemon under full load while things go wrong; afterwards all that it says of itself must agree. See scripts/soak.

  clients --load.py--> daemon <--faults.py-- operator         then: counts, memory, consistency, the log, the exit code
"""

import argparse
import multiprocessing
import os
import queue
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import faults
import load

HERE = os.path.dirname(os.path.realpath(__file__))
# Between the first empty state and the last: what is kept of chunks, counters, names of errors and commands, scripts.
MARGIN_BYTES = 4 << 20
REST_S = 60


class Daemon:
    def __init__(self, program, folder, clock_path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        shim = os.path.join(folder, "clock.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(HERE, "clock.c"), "-ldl"], check=True)
        self.log_path = os.path.join(folder, "log")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MAYFLY_")}
        environment |= {"LD_PRELOAD": shim, "SOAK_CLOCK": clock_path}
        environment["ASAN_OPTIONS"] = "allocator_may_return_null=1:verify_asan_link_order=0"
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder, "--enable-debug-command", "yes"]
        command += ["--busy-reply-threshold", "100", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid
        for _ in range(200):
            try:
                self.ask("PING")
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the daemon does not start:\n" + self.log())

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def ask(self, *words, database=0):
        connection = load.Connection(self.port)
        try:
            return connection.ask_all([("SELECT", database), words])[1]
        finally:
            connection.close()

    def info(self, section):
        lines = self.ask("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def end(self):
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "none: it did not end"


class Report:
    def __init__(self):
        self.disagreements = 0

    def say(self, what, ok=True):
        self.disagreements += not ok
        print(("  " if ok else "  DISAGREES: ") + what, flush=True)


def work(port, number, seed, until, results):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        results.put(load.Worker(port, number, seed, until).run())
    except load.Broken as broken:
        results.put(str(broken))


def run_load(daemon, arguments, injected):
    """Requests, lost connections and refusals of all workers, and what they found wrong."""
    until = time.monotonic() + arguments.minutes * 60
    results = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(target=work, args=(daemon.port, number, arguments.seed, until, results))
        for number in range(arguments.clients)
    ]
    for worker in workers:
        worker.start()
    while time.monotonic() < until and daemon.process.poll() is None:
        time.sleep(injected.dice.random())
        try:
            injected.inject()
        except OSError:
            pass  # the operator was killed, too, or was not let in
    sums, broken = [0, 0, 0], []
    for _ in workers:
        try:
            result = results.get(timeout=120)
        except queue.Empty:
            result = "a client did not end"
        if isinstance(result, str):
            broken.append(result)
        else:
            sums = [a + b for a, b in zip(sums, result)]
    for worker in workers:
        worker.terminate()
        worker.join()
    return sums, broken


def settle(condition):
    """Whether the condition came true while the daemon was at rest."""
    for _ in range(REST_S * 10):
        if condition():
            return True
        time.sleep(0.1)
    return False


def counts_of(daemon, database):
    """(DBSIZE, keys that SCAN has, keys of INFO)"""
    found, cursor = set(), b"0"
    while True:
        cursor, page = daemon.ask("SCAN", cursor, "COUNT", 10_000, database=database)
        found.update(page)
        if cursor == b"0":
            break
    fields = daemon.info("keyspace").get(f"db{database}", "keys=0,")
    return daemon.ask("DBSIZE", database=database), len(found), int(re.match(r"keys=(\d+)", fields).group(1))


def inspect(daemon, report, empty_bytes):
    for database in range(load.DATABASES):
        seen = []
        # Keys may expire between the three questions.
        agrees = settle(lambda: len(set(seen.append(counts_of(daemon, database)) or seen[-1])) == 1)
        report.say(f"database {database}: DBSIZE, SCAN and INFO say {seen[-1]}", agrees)
    valid = daemon.ask("DEBUG", "VALIDATE")
    report.say(f"DEBUG VALIDATE: {valid}", valid == b"OK")
    daemon.ask("FLUSHALL", "ASYNC")
    daemon.ask("SCRIPT", "FLUSH")
    daemon.ask("CONFIG", "RESETSTAT")
    pending = lambda: int(daemon.info("memory").get("flushed_pending_bytes", 0))
    report.say("what was flushed is freed", settle(lambda: pending() == 0))
    clients = lambda: daemon.info("clients")
    report.say("no client is left", settle(lambda: clients()["connected_clients"] == "1" and clients()["blocked_clients"] == "0"))
    used = lambda: int(daemon.info("memory")["used_memory"])
    back = settle(lambda: used() <= empty_bytes + MARGIN_BYTES)
    report.say(f"used_memory: {empty_bytes} at the start, {used()} after FLUSHALL; may differ by {MARGIN_BYTES}", back)
    sizes = [daemon.ask("DBSIZE", database=database) for database in range(load.DATABASES)]
    report.say(f"keys after FLUSHALL: {sizes}", not any(sizes))


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=4, help="processes that send (4)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of what is sent and what goes wrong")
    parser.add_argument("--daemon", required=True, help="the program")
    arguments = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="mayfly-soak-") as folder:
        clock_path = os.path.join(folder, "clock")
        clock = faults.Clock(clock_path)
        daemon = Daemon(arguments.daemon, folder, clock_path)
        print(f"seed {arguments.seed}, {arguments.minutes} minutes, {arguments.clients} clients", flush=True)
        empty_bytes = int(daemon.info("memory")["used_memory"])
        injected = faults.Faults(daemon, random.Random(arguments.seed), clock)
        (requests, closed, refused), broken = run_load(daemon, arguments, injected)
        report.say(f"{requests} requests, {refused} refused, {closed} connections lost")
        report.say("faults: " + ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(injected.counts.items())))
        for problem in broken:
            report.say(problem, ok=False)
        if daemon.process.poll() is None:
            injected.end()
            inspect(daemon, report, empty_bytes)
        code = daemon.end()
        report.say(f"exit code {code}", code == 0)
        log = daemon.log()
        wrong = re.findall(r".*(?:crash report|Sanitizer|runtime error|Assertion).*", log)
        report.say(f"{len(wrong)} lines of the log tell of a crash", not wrong)
        if report.disagreements:
            print(log[-10_000:])
    print("all agrees" if not report.disagreements else f"{report.disagreements} disagreements")
    return 1 if report.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())

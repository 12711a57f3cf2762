"""Several daemons behind a proxy, by the examples of conf/.

Three daemons behind nutcracker, with conf/twemproxy: while clients write and read, one daemon is killed and started again.
No client may read anything but nil, an error, or a value that was written last, and the keys of the two others must all
be there in the end. conf/haproxy is checked by haproxy itself, and then must leave a daemon that was killed; with sentinels it
must lead to the new master, and not to the old one while that has no replica. pods.py runs what conf/kubernetes/failover.yaml has.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "bench", "runner"))

import pods
import programs
import sentinels
from servers import Server, Spec, child_setup, free_port
from wire import ErrorReply, Wire

THREADS = 4
KEYS = 300  # of each thread
WAITS_S = 20


class Wrong(Exception):
    """What a client saw that it must not see."""


class Client(threading.Thread):
    """Writes and reads keys of its own through the proxy, and checks each reply.

    `last` has the value of each key that was written last; a write that ended with an error may have happened or not, so
    then there are several.
    """

    def __init__(self, port, number):
        super().__init__()
        self._port, self._number = port, number
        self.last = {f"key:{number}:{index}": {None} for index in range(KEYS)}
        self.errors = 0
        self.writes = 0
        self.wrong = None
        self.ends = threading.Event()

    def run(self):
        try:
            while not self.ends.is_set():
                self._connected()
        except Exception:
            self.wrong = traceback.format_exc()

    def _connected(self):
        try:
            with Wire(self._port, WAITS_S) as wire:
                while not self.ends.is_set():
                    for key in self.last:
                        self._use(wire, key)
                        if self.ends.is_set():
                            return
        except OSError:
            self.errors += 1
            time.sleep(0.01)

    def _use(self, wire, key):
        self.writes += 1
        value = str(self.writes)
        self.last[key].add(value)
        try:
            wire.ask("SET", key, value)
            self.last[key] = {value, None}
        except ErrorReply:
            self.errors += 1
        try:
            found = wire.ask("GET", key)
        except ErrorReply:
            self.errors += 1
            return
        if found is not None and found not in self.last[key]:
            raise Wrong(f"{key} is {found}, and not one of {self.last[key]}")


def eventually(accepts, text):
    end = time.monotonic() + WAITS_S
    while not accepts():
        if time.monotonic() > end:
            raise Wrong(text)
        time.sleep(0.02)


class Proxy:
    """A proxy with an example of conf/, whose addresses are replaced by these."""

    def __init__(self, words, example, addresses, folder):
        with open(os.path.join(ROOT, "conf", example), encoding="utf-8") as file:
            text = file.read()
        for old, new in addresses.items():
            if old not in text:
                raise Wrong(f"conf/{example} has no {old}")
            text = text.replace(old, new)
        self.path = os.path.join(folder, os.path.basename(example))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        words = [word.replace("{conf}", self.path) for word in words]
        with open(os.path.join(folder, "proxy.log"), "wb") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, preexec_fn=child_setup(None)
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


def answers(port):
    try:
        with Wire(port, 2) as wire:
            return wire.ask("PING") == "PONG"
    except (OSError, ErrorReply):
        return False


def served(clients):
    """The writes so far, of each client."""
    return [client.writes for client in clients]


def go_on(clients, rounds):
    """Waits until each client has written all its keys `rounds` times more."""
    before = served(clients)
    enough = KEYS * rounds
    eventually(
        lambda: any(c.wrong for c in clients) or all(now - then >= enough for now, then in zip(served(clients), before)),
        "the clients do not go on",
    )


class Daemons:
    """Some daemons, each in a folder of its own, and a free port for the proxy before them."""

    def __init__(self, daemon, folder, count):
        self._spec = Spec("mayfly", f"{daemon} --port {{port}} --bind 127.0.0.1")
        self._folders = [os.path.join(folder, f"daemon-{index + 1}") for index in range(count)]
        self.servers = []
        for name in self._folders:
            os.makedirs(name)
        self.proxy_port = free_port()

    def addresses(self, proxy):
        """By which addresses those of an example of conf/ are replaced; `proxy` is the proxy's there."""
        found = {f"127.0.0.1:{7001 + index}": f"127.0.0.1:{server.port}" for index, server in enumerate(self.servers)}
        return found | {proxy: f"127.0.0.1:{self.proxy_port}"}

    def kill_first(self):
        os.kill(self.servers[0].pid, signal.SIGKILL)

    def restart_first(self):
        """After it was killed: on the same port, and empty."""
        self.servers[0].stop()
        self.servers[0] = Server(self._spec, self._folders[0], None, port=self.servers[0].port)

    def __enter__(self):
        try:
            for name in self._folders:
                self.servers.append(Server(self._spec, name, None))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()


def behind_nutcracker(daemon, folder):
    with Daemons(daemon, folder, 3) as daemons:
        port = daemons.proxy_port
        words = ["nutcracker", "-c", "{conf}", "-o", "nutcracker.log", "-p", os.path.join(folder, "nutcracker.pid")]
        words += ["-a", "127.0.0.1", "-s", str(free_port())]
        with Proxy(words, "twemproxy/nutcracker.yml", daemons.addresses("127.0.0.1:22121"), folder):
            eventually(lambda: answers(port), "nutcracker does not answer")
            clients = [Client(port, number) for number in range(THREADS)]
            for client in clients:
                client.start()
            try:
                go_on(clients, 2)
                before = sum(client.errors for client in clients)
                daemons.kill_first()
                go_on(clients, 2)
                during = sum(client.errors for client in clients)
                daemons.restart_first()
                with Wire(daemons.servers[0].port) as wire:
                    eventually(lambda: wire.ask("DBSIZE") != 0, "the daemon that came back gets no keys")
                go_on(clients, 1)
            finally:
                for client in clients:
                    client.ends.set()
                for client in clients:
                    client.join()
            wrong = [client.wrong for client in clients if client.wrong]
            if wrong:
                raise Wrong(wrong[0])
            if before != 0 or during == 0:
                raise Wrong(f"{before} errors before a daemon was killed, and {during} until it was started again")
            compare(daemons.servers, clients)
            return f"{sum(served(clients))} writes, {during} errors while one of three daemons was down"


def compare(daemons, clients):
    """Every key must be on one daemon, with what was written last. No read of those that went on may have missed."""
    held = []
    for index, server in enumerate(daemons):
        with Wire(server.port) as wire:
            misses = wire.info("stats")["keyspace_misses"]
            if index != 0 and misses != "0":
                raise Wrong(f"daemon {index + 1} was not killed, and has lost keys: {misses} misses")
            held.append({key: wire.ask("GET", key) for key in wire.ask("KEYS", "*")})
    for client in clients:
        for key, last in client.last.items():
            places = [index for index, keys in enumerate(held) if key in keys]
            if len(places) > 1:
                raise Wrong(f"{key} is on {len(places)} daemons")
            if places and held[places[0]][key] not in last:
                raise Wrong(f"{key} is {held[places[0]][key]}, and not one of {last}")
    for index, keys in enumerate(held):
        if not keys:
            raise Wrong(f"daemon {index + 1} has no keys")
    missing = sum(1 for client in clients for key in client.last if not any(key in keys for keys in held))
    if missing > 0:
        raise Wrong(f"{missing} keys are on no daemon, though all were written after the restart")


def behind_haproxy(daemon, folder):
    with Daemons(daemon, folder, 2) as daemons:
        port = daemons.proxy_port
        for index, server in enumerate(daemons.servers):
            with Wire(server.port) as wire:
                wire.ask("SET", "who", str(index))

        def who():
            try:
                with Wire(port, 2) as wire:
                    return wire.ask("GET", "who")
            except (OSError, ErrorReply):
                return None

        with Proxy(["haproxy", "-f", "{conf}"], "haproxy/haproxy.cfg", daemons.addresses("127.0.0.1:6380"), folder) as proxy:
            checked_by_haproxy(proxy)
            eventually(lambda: who() == "0", "haproxy does not lead to the first daemon")
            daemons.kill_first()
            eventually(lambda: who() == "1", "haproxy does not lead to the second daemon")
            daemons.restart_first()
            eventually(lambda: answers(port) and who() is None, "haproxy does not lead back to the first daemon, now empty")
        return "from the first daemon to the second, and back"


def checked_by_haproxy(proxy):
    done = subprocess.run(["haproxy", "-c", "-f", proxy.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or re.search(rb"\[(WARNING|ALERT)\]", done.stdout):
        raise Wrong(done.stdout.decode(errors="replace"))


def through(port, *words):
    """The reply to a new client; an exception for an error."""
    try:
        with Wire(port, 2) as wire:
            return wire.ask(*words)
    except (OSError, ErrorReply) as problem:
        return problem


def is_replica(port):
    role = through(port, "ROLE")
    return isinstance(role, list) and role[0] == "slave"


def behind_haproxy_with_sentinels(daemon, folder):
    redis = shutil.which("redis-server", path=programs.environment(ROOT)["PATH"])
    with sentinels.Group(daemon, redis, folder) as group:
        writes, reads = sentinels.free_ports(2)
        addresses = {f"127.0.0.1:{7001 + index}": f"127.0.0.1:{port}" for index, port in enumerate(group.servers)}
        addresses |= {"127.0.0.1:6380": f"127.0.0.1:{writes}", "127.0.0.1:6381": f"127.0.0.1:{reads}"}
        with Proxy(["haproxy", "-f", "{conf}"], "haproxy/failover.cfg", addresses, folder) as proxy:
            checked_by_haproxy(proxy)
            eventually(lambda: through(writes, "SET", "k", "first") == "OK", "haproxy does not lead to the master")
            eventually(lambda: through(reads, "GET", "k") == "first", "haproxy does not lead to a replica")
            killed = group.kill_master()
            eventually(lambda: through(writes, "SET", "k", "second") == "OK", "haproxy does not lead to the new master")
            group.start_killed()
            asked, end = 0, time.monotonic() + 2 * WAITS_S
            while not is_replica(killed):
                # It is empty, and takes writes until the sentinels make it a replica.
                if through(writes, "GET", "k") != "second" or time.monotonic() > end:
                    raise Wrong(f"haproxy leads to the old master: {through(writes, 'GET', 'k')}")
                asked += 1
            eventually(lambda: through(killed, "GET", "k") == "second", "the old master has not got the keys")
            return f"from a master to the next one, and {asked} times not to the old one"


def in_pods(daemon, folder):
    env = {**os.environ, "PATH": programs.environment(ROOT)["PATH"]}
    done = subprocess.run([*pods.COMMAND, daemon, os.path.join(folder, "pods")], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Wrong(done.stdout.decode(errors="replace"))
    return "a killed container, deleted pods and a new address, by conf/kubernetes/failover.yaml"


CHECKS = {
    "behind nutcracker": behind_nutcracker,
    "behind haproxy": behind_haproxy,
    "behind haproxy, with sentinels": behind_haproxy_with_sentinels,
    "in place of pods, with sentinels": in_pods,
}


def run(tally, daemon):
    print("Several daemons behind proxies", flush=True)
    script = os.path.join(ROOT, "scripts", "install-packages")
    if subprocess.run([script, "sharding"], stdin=subprocess.DEVNULL).returncode != 0:
        tally.step("packages of the proxies", 0, 1, 0.0)
        return
    for name, check in CHECKS.items():
        started = time.monotonic()
        folder = os.path.join(ROOT, "build", "sharding", re.sub(r"\W+", "-", name))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            text, passed = check(daemon, folder), True
            print(f"  {name}: {text}", flush=True)
        except Exception:
            text, passed = traceback.format_exc(), False
        tally.step(name, int(passed), int(not passed), time.monotonic() - started, text)

"""A master with two replicas and three sentinels of redis-server, by the example of conf/sentinel."""

import os
import re
import shutil
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "bench", "runner"))

from servers import Server, ServerFailed, Spec, free_port
from wire import Wire

MASTER = "mymaster"
EXAMPLE = os.path.join(ROOT, "conf", "sentinel", "sentinel.conf")
SERVERS, SENTINELS = 3, 3
# A busy machine must not look like a master that is away.
AWAY_MS = 3000
KNOWN_WITHIN_S = 60


def free_ports(count):
    ports = set()
    while len(ports) < count:
        ports.add(free_port())
    return sorted(ports)


def adapted(text, changes):
    """The example with other lines: {the first words: what follows them, or None to leave the line out}."""
    for words, value in changes.items():
        text, found = re.subn(
            rf"^{re.escape(words)} .*\n", "" if value is None else f"{words} {value}\n".replace("\\", "\\\\"), text, flags=re.M
        )
        if found != 1:
            raise ServerFailed(f"conf/sentinel/sentinel.conf has {found} lines {words}")
    return text


class Group:
    """The servers, of the program `program`, and the sentinels, which are `sentinel`, a redis-server. Ends them with stop()."""

    def __init__(self, program, sentinel, folder, password=""):
        self._program, self._sentinel, self._password = program, sentinel, password
        self._running = {}
        ports = free_ports(SERVERS + SENTINELS)
        self.servers, self.sentinels = ports[:SERVERS], ports[SERVERS:]
        self._folder = os.path.join(folder, os.path.basename(program))
        shutil.rmtree(self._folder, ignore_errors=True)
        try:
            for port in self.servers:
                self._configure(port)
                self._start(port)
            for port in self.sentinels:
                self._start_sentinel(port)
            self._wait_until_complete()
        except BaseException:
            self.stop()
            raise

    def master(self):
        """The port of the master, as the first sentinel knows it."""
        with Wire(self.sentinels[0], 5) as wire:
            return int(wire.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)[1])

    def kill_master(self):
        """Returns the port."""
        port = self.master()
        self._running.pop(port).kill()
        return port

    def start_killed(self):
        """Starts the servers that are down, with the conf files that they had."""
        for port in self.servers:
            if port not in self._running:
                self._start(port)

    def stop(self):
        for server in self._running.values():
            server.kill()
        self._running.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_until_complete(self):
        """Each sentinel knows the replicas and the other sentinels; before that a failover may find no majority."""
        wanted, end = {"num-slaves": SERVERS - 1, "num-other-sentinels": SENTINELS - 1}, time.monotonic() + KNOWN_WITHIN_S
        for port in self.sentinels:
            while self._known(port, wanted) != wanted:
                if time.monotonic() > end:
                    raise ServerFailed(f"a sentinel knows {self._known(port, wanted)}, not {wanted}")
                time.sleep(0.05)

    @staticmethod
    def _known(port, names):
        with Wire(port, 5) as wire:
            words = wire.ask("SENTINEL", "MASTER", MASTER)
        fields = dict(zip(words[::2], words[1::2]))
        return {name: int(fields[name]) for name in names}

    def _path(self, port):
        return os.path.join(self._folder, str(port))

    def _configure(self, port):
        os.makedirs(self._path(port))
        lines = [f"port {port}", "bind 127.0.0.1", 'save ""']
        if self._password:
            lines += [f"requirepass {self._password}", f"masterauth {self._password}"]
        if port != self.servers[0]:
            lines.append(f"replicaof 127.0.0.1 {self.servers[0]}")
        with open(os.path.join(self._path(port), "server.conf"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def _start(self, port):
        folder = self._path(port)
        spec = Spec("server", f"{self._program} {folder}/server.conf")
        self._running[port] = Server(spec, folder, None, port=port)

    def _start_sentinel(self, port):
        folder = self._path(port)
        os.makedirs(folder)
        with open(EXAMPLE, encoding="utf-8") as file:
            text = file.read()
        changes = {
            "port": port,
            "bind": "127.0.0.1",
            "dir": folder,
            f"sentinel monitor {MASTER}": f"127.0.0.1 {self.servers[0]} 2",
            f"sentinel auth-user {MASTER}": None,
            f"sentinel auth-pass {MASTER}": self._password or None,
            f"sentinel down-after-milliseconds {MASTER}": AWAY_MS,
            f"sentinel failover-timeout {MASTER}": 10_000,
        }
        path = os.path.join(folder, "sentinel.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(adapted(text, changes))
        self._running[port] = Server(Spec("sentinel", f"{self._sentinel} {path} --sentinel"), folder, None, port=port)


def selftest():
    with open(EXAMPLE, encoding="utf-8") as file:
        text = file.read()
    assert "\nport 7\n" in adapted(text, {"port": 7}) and "auth-user" not in adapted(text, {f"sentinel auth-user {MASTER}": None})
    try:
        adapted(text, {"no such option": 1})
    except ServerFailed:
        return
    raise AssertionError("an option that the example lacks was changed")

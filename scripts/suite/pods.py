"""The scripts of conf/kubernetes/failover.yaml, with processes in the place of pods: pods.py MAYFLY FOLDER

Runs in namespaces of its own, of the network and of mounts (see COMMAND): each pod has an address 127.0.x.y, and /etc/hosts is the
cluster's name server. So the names and the ports of the manifest are used as they stand. A killed container, a deleted pod and a
pod with a new address must end with a master that has all keys, a replica, and a readiness that tells one from the other.
"""

import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
MANIFEST = os.path.join(ROOT, "conf", "kubernetes", "failover.yaml")
COMMAND = ("unshare", "--map-root-user", "--mount", "--net", "/usr/bin/python3", os.path.realpath(__file__))
SERVERS = ("mayfly-0", "mayfly-1")
SENTINELS = ("mayfly-sentinel-0", "mayfly-sentinel-1", "mayfly-sentinel-2")
PASSWORD = "pass$word*"
WAITS_S = 90
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class Wrong(Exception):
    pass


def loopback_up():
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def eventually(accepts, text):
    end = time.monotonic() + WAITS_S
    while not accepts():
        if time.monotonic() > end:
            raise Wrong(text)
        time.sleep(0.1)


class Pods:
    def __init__(self, daemon, folder):
        with open(MANIFEST, encoding="utf-8") as file:
            self._scripts = next(yaml.safe_load_all(file))["data"]
        self._folder, self._running, self._named = folder, {}, set()
        self._addresses = {name: f"127.0.1.{number}" for number, name in enumerate((*SERVERS, *SENTINELS), 1)}
        shutil.rmtree(folder, ignore_errors=True)
        self._programs = os.path.join(folder, "bin")
        os.makedirs(self._programs)
        os.symlink(os.path.realpath(daemon), os.path.join(self._programs, "mayfly"))
        sentinel = os.path.join(self._programs, "valkey-sentinel")
        with open(sentinel, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec valkey-server "$@" --sentinel\n')
        os.chmod(sentinel, 0o755)
        self._password = os.path.join(folder, "password")
        self._hosts = os.path.join(folder, "hosts")
        for path, text in ((self._password, PASSWORD), (self._hosts, "")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["mount", "--bind", self._hosts, "/etc/hosts"], check=True)

    def start(self, name, address=None):
        self._addresses[name] = address or self._addresses[name]
        here = self._configure(name)
        self._named.add(name)
        self._publish()
        script = ["sh", f"{here}/conf/start-sentinel"] if name in SENTINELS else ["bash", f"{here}/conf/start"]
        env = {"HOSTNAME": name, "PATH": f"{self._programs}:{os.environ['PATH']}"}
        env |= {"MAYFLY_REQUIREPASS_FILE": self._password, "MAYFLY_MASTERAUTH_FILE": self._password}
        with open(f"{here}/log", "ab") as log:
            self._running[name] = subprocess.Popen(
                script, env=env, cwd=f"{here}/data", stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self, name, deleted):
        """Its container ends at once, or the pod is deleted, which takes its name away, too."""
        self._running[name].send_signal(signal.SIGTERM if deleted else signal.SIGKILL)
        self._running.pop(name).wait()
        if deleted:
            self._named.discard(name)
            self._publish()

    def stop(self):
        for process in self._running.values():
            process.kill()
            process.wait()

    def ask(self, name, *words):
        """The lines of the answer, by the manifest's script; none for an error."""
        port = "26379" if name in SENTINELS else "6379"
        done = self._script(name, "ask", self._addresses[name], port, *words)
        return done.stdout.decode().splitlines() if done.returncode == 0 else []

    def is_ready(self, name):
        return self._script(name, "ready").returncode == 0

    def follows(self, name):
        role = self.ask(name, "ROLE")
        return role[:1] == ["slave"] and role[3] == "connected"

    def _script(self, name, script, *words):
        path = os.path.join(self._folder, name, "conf", script)
        return subprocess.run(["bash", path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _configure(self, name):
        """Writes the scripts with this pod's folders and address."""
        here, address = os.path.join(self._folder, name), self._addresses[name]
        for part in ("conf", "data"):
            os.makedirs(f"{here}/{part}", exist_ok=True)
        own = {"mayfly.conf": f"bind {address}\ndir {here}/data\n", "sentinel.conf": f"bind {address}\n"}
        for script, text in self._scripts.items():
            text = text.replace("/etc/mayfly", f"{here}/conf").replace("/run/secrets/mayfly/password", self._password)
            text = re.sub(r"(?<!\w)/data\b", f"{here}/data", text).replace("127.0.0.1", address)
            with open(f"{here}/conf/{script}", "w", encoding="utf-8") as file:
                file.write(text.replace("metrics-bind * -::*", f"metrics-bind {address}") + own.get(script, ""))
        return here

    def _publish(self):
        with open(self._hosts, "w", encoding="utf-8") as file:
            for name in sorted(self._named):
                file.write(f"{self._addresses[name]} {name}.{name.rpartition('-')[0]}\n")


def go_on(pods, master, replica, keys):
    """`master` is ready and has the keys; `replica` follows it, and is not ready."""
    eventually(lambda: pods.is_ready(master), f"{master} is not ready")
    eventually(lambda: pods.follows(replica), f"{replica} does not follow")
    if pods.is_ready(replica):
        raise Wrong(f"{replica} is ready")
    for key in keys:
        if pods.ask(master, "GET", key) != [key]:
            raise Wrong(f"{master} has lost {key}: {pods.ask(master, 'GET', key)}")
    key = f"{len(keys)} written at {master}"
    saw = [*pods.ask(master, "SET", key, key), *pods.ask(master, "WAIT", "1", "20000")]
    if saw != ["OK", "1"]:
        raise Wrong(f"{master} takes no writes: {saw}")
    keys.append(key)
    known = [f"{master}.mayfly", "6379"]
    for sentinel in SENTINELS:
        eventually(lambda: pods.ask(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster") == known, f"{sentinel} knows no {known}")
        eventually(lambda: pods.ask(sentinel, "SENTINEL", "REPLICAS", "mymaster"), f"{sentinel} knows no replica")
        eventually(lambda: "3 usable" in "".join(pods.ask(sentinel, "SENTINEL", "CKQUORUM", "mymaster")), "there is no majority")


def run(pods):
    for name in (*SERVERS, *SENTINELS):
        pods.start(name)
    keys, first, second = [], *SERVERS
    go_on(pods, first, second, keys)
    # The container starts again at once, before the sentinels see that it was away, and its keys are gone.
    pods.kill(first, deleted=False)
    pods.start(first)
    go_on(pods, second, first, keys)
    # The pod comes back with another address, after its replica has taken its place.
    pods.kill(second, deleted=True)
    eventually(lambda: pods.is_ready(first), f"{first} is not ready after {second} was deleted")
    pods.start(second, "127.0.1.77")
    go_on(pods, first, second, keys)
    # So does the pod of a sentinel, which has kept its file.
    pods.kill(SENTINELS[0], deleted=True)
    pods.start(SENTINELS[0])
    go_on(pods, first, second, keys)
    pods.kill(first, deleted=True)
    pods.start(first)
    go_on(pods, second, first, keys)


def main(daemon, folder):
    loopback_up()
    pods = Pods(daemon, folder)
    try:
        run(pods)
    finally:
        pods.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

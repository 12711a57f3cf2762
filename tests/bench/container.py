#!/usr/bin/env python3
"""Runs a server in a memory cgroup while its values change their size, and tells whether the kernel killed it.

  tests/bench/container.py NAME='COMMAND with {port} and {percent75}' ... [--limits 128,256,512] [--client build/bench/tests/bench_client]

{percent75} is three quarters of the limit in bytes, for servers that do not read it themselves:

  tests/bench/container.py mayfly='build/mayfly --port {port} --maxmemory-policy allkeys-lru' \\
      redis='redis-server --port {port} --maxmemory {percent75} --maxmemory-policy allkeys-lru --save ""'

Needs root and the memory controller of cgroup version 1; the cgroups are made below the own one and removed.
"""

import argparse
import contextlib
import json
import os
import random
import shlex
import socket
import subprocess
import time

MIB = 1 << 20
# What a key takes beside its value, about.
OVERHEAD = 60
# Shape -> phases: sizes of values, and how often the limit is written in them. "touch" reads half as many random keys
# as there are, so that what is evicted next lies between what stays.
SHAPES = {
    "800, 20,000 and back": [("800", 2), ("20000", 2), ("800", 2), ("20000", 2), ("800", 2)],
    "50 and 100,000": [("50", 2), ("100000", 3), ("50", 2), ("100000", 3)],
    "growing": [(r, 2) for r in ("50-200", "200-1000", "1000-5000", "5000-20000", "20000-100000", "100000-1000000", "50-200")],
    "mixed": [("50-100000", 6), ("50-5000", 3), ("50-100000", 6)],
    "scattered": [("100", 2), "touch", ("1000", 1.5), "touch", ("100", 1.5), "touch", ("5000", 1.5), "touch", ("300", 1.5), "touch", ("30000", 1.5)],
}


def ask(port, *words):
    with socket.create_connection(("127.0.0.1", port), 30) as wire, wire.makefile("rb") as file:
        wire.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        return file.readline().decode().strip()


def own_cgroup():
    with open("/proc/self/cgroup", encoding="ascii") as file:
        for line in file:
            _, controllers, path = line.strip().split(":", 2)
            if "memory" in controllers.split(","):
                return "/sys/fs/cgroup/memory" + path
    raise SystemExit("there is no memory controller of cgroup version 1")


@contextlib.contextmanager
def cgroup(limit):
    path = f"{own_cgroup()}/mayfly-{os.getpid()}-{random.randrange(10**6)}"
    os.mkdir(path)
    try:
        with open(f"{path}/memory.limit_in_bytes", "w", encoding="ascii") as file:
            file.write(str(limit))
        yield path
    finally:
        for _ in range(50):
            try:
                os.rmdir(path)
                break
            except OSError:
                time.sleep(0.05)


def keys_of(sizes, times, limit):
    least, _, most = sizes.partition("-")
    return int(limit * times / ((int(least) + int(most or least)) / 2 + OVERHEAD))


def drive(client, port, phases, limit):
    """True where the server took all of it."""
    first = 0
    for phase in phases:
        if phase == "touch":
            held = int(ask(port, "DBSIZE")[1:])
            words = ["ask", str(port), "--requests", str(held // 5000 * 2500), "--keys", str(first), "--depth", "50"]
        else:
            keys = keys_of(*phase, limit)
            words = ["load", str(port), "--keys", str(keys), "--first", str(first), "--value-bytes", phase[0]]
            first += keys
        done = subprocess.run([client, *words], input=b"go\n", capture_output=True)
        if done.returncode != 0 and phase != "touch":
            return False
        if phase != "touch":
            json.loads(done.stdout)
    return True


def run(client, command, limit, phases):
    """(survived, the most bytes that were resident)"""
    port = random.randrange(20000, 32000)
    words = shlex.split(command.format(port=port, percent75=limit // 4 * 3))
    with cgroup(limit) as path:
        join = f'echo $$ > {path}/cgroup.procs; exec "$@"'
        server = subprocess.Popen(["sh", "-c", join, "sh", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(500):
                with contextlib.suppress(OSError):
                    ask(port, "PING")
                    break
                time.sleep(0.02)
            survived = drive(client, port, phases, limit) and server.poll() is None
            if not survived:
                return False, limit
            with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
                return True, next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
        finally:
            server.kill()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--limits", default="128,256,512", help="of the cgroup, in MiB")
    parser.add_argument("--client", default="build/bench/tests/bench_client", help="the load generator")
    options = parser.parse_args()
    for limit in (int(size) * MIB for size in options.limits.split(",")):
        for shape, phases in SHAPES.items():
            for name, command in (server.split("=", 1) for server in options.servers):
                survived, most = run(options.client, command, limit, phases)
                told = f"{most // MIB} MiB at most" if survived else "killed"
                print(f"{limit // MIB:5} MiB  {shape:22} {name:10} {told}", flush=True)


if __name__ == "__main__":
    main()

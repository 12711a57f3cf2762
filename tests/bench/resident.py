#!/usr/bin/env python3
"""Changes the sizes of a server's values for long, and tells how much memory is resident for what the keys need.

  tests/bench/resident.py NAME='COMMAND with {port}' ... [--minutes 10] [--keys 300000] [--rest 2]

  tests/bench/resident.py mayfly='build/mayfly --port {port}' redis='redis-server --port {port} --save ""'

Each round writes some of the keys anew, at random, with values of another range of sizes, so that blocks of all sizes are freed among
others that stay. Then it asks for the length of every value. What the keys need are the bytes of keys and values, and
those that a key costs the server beyond them, which is measured first with values that never change. What is told is the resident memory
beyond that of the empty server, divided by that need.
"""

import argparse
import contextlib
import os
import random
import shlex
import socket
import subprocess
import sys
import time

SIZES = ((10, 100), (100, 400), (50, 60), (400, 1500), (1000, 1100), (10, 5000), (200, 300), (3000, 6000), (20, 40))
BATCH = 500
KEY = b"key:%010d"


class Wire:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.file = self.socket.makefile("rb")

    def ask_all(self, requests):
        """One line of each reply; no reply may be a bulk string."""
        pieces = []
        for words in requests:
            pieces.append(b"*%d\r\n" % len(words))
            pieces += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"".join(pieces))
        return [self.file.readline().strip() for _ in requests]


def batches(numbers):
    for at in range(0, len(numbers), BATCH):
        yield numbers[at : at + BATCH]


def write(wire, keys, sizes, dice, filler):
    for some in batches(keys):
        replies = wire.ask_all([(b"SET", KEY % key, filler[: dice.randint(*sizes)]) for key in some])
        if any(reply != b"+OK" for reply in replies):
            raise SystemExit(f"a SET was answered {replies}")


def payload(wire, keys):
    total = 0
    for some in batches(range(keys)):
        total += sum(int(reply[1:]) for reply in wire.ask_all([(b"STRLEN", KEY % key) for key in some]))
    return total + keys * len(KEY % 0)


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def connected(port):
    for _ in range(500):
        with contextlib.suppress(OSError):
            return Wire(port)
        time.sleep(0.02)
    raise SystemExit("the server does not start")


@contextlib.contextmanager
def started(command):
    port = random.randrange(20000, 32000)
    server = subprocess.Popen(shlex.split(command.format(port=port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield server.pid, connected(port)
    finally:
        server.kill()
        server.wait()


def cost_of_a_key(command, keys):
    """Bytes beyond key and value, with values of one size that were written once."""
    with started(command) as (pid, wire):
        empty = resident(pid)
        write(wire, range(keys), (200, 200), random.Random(1), b"x" * 200)
        return (resident(pid) - empty - payload(wire, keys)) / keys


def run(name, command, options):
    dice = random.Random(7)
    filler = os.urandom(max(most for _, most in SIZES))
    cost = cost_of_a_key(command, options.keys)
    worst = 0
    with started(command) as (pid, wire):
        empty = resident(pid)
        write(wire, range(options.keys), (10, 1000), dice, filler)
        until = time.monotonic() + options.minutes * 60
        rounds = 0
        while time.monotonic() < until:
            keys = dice.sample(range(options.keys), options.keys * dice.randint(20, 60) // 100)
            write(wire, keys, SIZES[rounds % len(SIZES)], dice, filler)
            rounds += 1
            time.sleep(options.rest)
            need = payload(wire, options.keys) + cost * options.keys
            ratio = (resident(pid) - empty) / need
            worst = max(worst, ratio)
            if options.verbose:
                print(f"{name}: round {rounds}: {ratio:.3f}", file=sys.stderr, flush=True)
    print(f"{name:10} {cost:5.1f} B a key, {rounds} rounds: at most {worst:.3f}, at the end {ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keys", type=int, default=300_000)
    parser.add_argument("--rest", type=float, default=2, help="seconds between a round and the look at what is resident (2)")
    parser.add_argument("--verbose", action="store_true", help="tell of each round")
    options = parser.parse_args()
    for name, command in (server.split("=", 1) for server in options.servers):
        run(name, command, options)


if __name__ == "__main__":
    main()

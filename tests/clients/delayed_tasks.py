"""scripts/examples/delayed_tasks.py and .js: the steps of scripts/suite/clients.py. Arguments: port, password.

Workers are processes of their own, which run the example's work() and are killed without warning while the tasks come. Called
with --work instead, this is such a worker: a task's run is a number more in the hash "done".
"""

import os
import random
import subprocess
import sys
import time

import redis

from transcript import eventually, expect, tell

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts", "examples"))

import delayed_tasks

TASKS = 2000
WORKERS = 3
KILLS = 15
ABANDONED_MS = 300


def worker(client):
    def run(name, payload, late_ms):
        client.hincrby("done", name, 1)
        if payload != b"payload of " + name or late_ms < -1:
            client.hset("wrong", name, f"{payload} {late_ms}")

    delayed_tasks.work(client, run, abandoned_ms=ABANDONED_MS)


def run_and_kill(client, language, command):
    """Lets the tasks come while workers are killed, and checks that each was run."""
    client.delete("jobs", "done", "wrong")
    workers = [subprocess.Popen(command) for _ in range(WORKERS)]
    delays = list(range(TASKS))
    random.Random(1).shuffle(delays)
    with client.pipeline(transaction=False) as pipe:
        for number, delay in enumerate(delays):
            name = f"task:{number}"
            delayed_tasks.later(pipe, name, f"payload of {name}", 1 + delay / 1000)
        pipe.delete("task:7")
        pipe.execute()
    for kill in range(KILLS):
        time.sleep(0.15)
        workers[kill % WORKERS].kill()
        workers[kill % WORKERS].wait()
        workers[kill % WORKERS] = subprocess.Popen(command)
    wanted = {f"task:{n}".encode() for n in range(TASKS)} - {b"task:7"}
    eventually(lambda: client.hlen("done"), lambda done: done >= len(wanted), "not all tasks were run")
    eventually(lambda: client.xpending("jobs", "workers")["pending"], lambda left: left == 0, "tasks stay pending")
    done = client.hgetall("done")
    expect(set(done) == wanted, f"{len(done)} of {len(wanted)} tasks")
    expect(client.hgetall("wrong") == {}, f"{client.hgetall('wrong')}")
    expect(client.xlen("jobs") == 0, f"{client.xlen('jobs')} entries are left")
    again = sum(int(count) - 1 for count in done.values())
    expect(again <= KILLS, f"{again} tasks ran twice")
    tell(f"no task is lost when workers in {language} are killed", len(done))
    print(f"{language}: {len(wanted)} tasks run, {again} of them again after one of {KILLS} kills", file=sys.stderr)

    for process in workers:
        process.kill()
        process.wait()
    process = subprocess.Popen(command)
    delayed_tasks.later(client, "late", "payload of late", 60)
    delayed_tasks.later(client, "late", "payload of late", 0.05)
    eventually(lambda: client.hget("done", "late"), lambda count: count == b"1", "the moved task does not come")
    tell(f"a worker in {language} gets a task as it was set last", 1)
    process.kill()
    process.wait()


def main():
    port, password = sys.argv[1:3]
    client = redis.Redis(port=int(port), username="default", password=password)
    if "--work" in sys.argv:
        return worker(client)
    run_and_kill(client, "Python", ["/usr/bin/python3", os.path.realpath(__file__), port, password, "--work"])
    node = os.path.join(HERE, "node", "delayed_tasks.js")
    return run_and_kill(client, "Node", ["node", node, port, password, str(ABANDONED_MS)])


main()

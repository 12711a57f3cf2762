"""scripts/examples/delayed_tasks.py: the steps of scripts/suite/clients.py. Arguments: port, password."""

import os
import random
import sys

import redis

from transcript import expect, tell

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "scripts", "examples"))

import delayed_tasks

TASKS = 2000
LATEST_MS = 500
IDLE_MS = 2000


def main():
    client = redis.Redis(port=int(sys.argv[1]), username="default", password=sys.argv[2])
    client.config_set("expire-log-values", 4096)
    client.config_set("expire-log-size", "64mb")

    ran = []
    for number in range(TASKS):
        delayed_tasks.schedule(client, number, f"payload {number}", random.randint(1, LATEST_MS))
    delayed_tasks.schedule(client, "cancelled", "never", LATEST_MS)
    client.delete("task:cancelled")
    go_on = delayed_tasks.work(client, lambda name, payload: ran.append((name, payload)), idle_ms=IDLE_MS)
    expect(sorted(ran) == sorted((str(n), f"payload {n}".encode()) for n in range(TASKS)), f"{len(ran)} tasks ran")
    tell("each task runs once", len(ran))

    delayed_tasks.schedule(client, "late", "more", 1)
    ran.clear()
    delayed_tasks.work(client, lambda name, payload: ran.append((name, payload)), go_on, IDLE_MS)
    tell("a worker goes on where it was", ran)
    client.config_set("expire-log-size", 0)


main()

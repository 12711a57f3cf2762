#!/usr/bin/env python3
"""Delayed tasks, by redis-py: a task is a key that goes into a stream at its deadline, and each goes to one worker.

    python3 scripts/examples/delayed_tasks.py work                          as many workers as you like
    python3 scripts/examples/delayed_tasks.py later mail:7 "to ann" 1.5     in 1.5 seconds

Before these words: --url redis://:password@host:port, or the variable REDIS_URL.
"""

import argparse
import os
import socket
import time

import redis


def later(client, name, payload, seconds, stream="jobs"):
    """Runs the task in `seconds`; under a name that waits already it replaces that task, and client.delete(name) ends it."""
    client.execute_command("SET", name, payload, "PX", int(seconds * 1000), "INTO", stream)


def work(client, run, stream="jobs", group="workers", abandoned_ms=60_000, ends=lambda: False):
    """Calls run(name, payload, late_ms) for each task. One that ends no run within `abandoned_ms` goes to another worker."""
    me = f"{socket.gethostname()}-{os.getpid()}"
    try:
        client.xgroup_create(stream, group, id="0", mkstream=True)
    except redis.ResponseError as error:
        if not str(error).startswith("BUSYGROUP"):
            raise
    while not ends():
        tasks = client.xautoclaim(stream, group, me, abandoned_ms, count=1)[1]
        if not tasks:
            replies = client.xreadgroup(group, me, {stream: ">"}, count=1, block=1000)
            tasks = replies[0][1] if replies else []
        for number, task in tasks:
            run(task[b"key"], task.get(b"value"), time.time() * 1000 - int(task[b"due"]))
            client.execute_command("XACKDEL", stream, group, "IDS", 1, number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    words = parser.add_subparsers(dest="what", required=True)
    words.add_parser("work")
    task = words.add_parser("later")
    task.add_argument("name")
    task.add_argument("payload")
    task.add_argument("seconds", type=float)
    arguments = parser.parse_args()
    client = redis.Redis.from_url(arguments.url)
    if arguments.what == "later":
        return later(client, arguments.name, arguments.payload, arguments.seconds)
    return work(client, lambda name, payload, late_ms: print(name.decode(), payload, f"{late_ms:.0f} ms late", flush=True))


if __name__ == "__main__":
    main()

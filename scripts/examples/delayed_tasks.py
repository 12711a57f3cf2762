#!/usr/bin/env python3
"""Delayed tasks with EXPLOG, by redis-py: a task is a key with a TTL, and a worker gets it with its value when it expires.

    mayfly --expire-log-size 64mb
    python3 scripts/examples/delayed_tasks.py [--url redis://:password@host:port]     (or the variable REDIS_URL)
"""

import argparse
import os
import time

import redis


def schedule(client, name, payload, delay_ms):
    """Runs the task in `delay_ms`; under a name that waits already it replaces that task, and client.delete(name) ends it."""
    client.set(name, payload, px=delay_ms)


def work(client, run, seq=0, idle_ms=1000):
    """Calls run(name, payload, late_ms) for each task that is due, until none came for `idle_ms`; returns where to go on."""
    while events := client.execute_command("EXPLOG", "READ", seq, "COUNT", 100, "BLOCK", idle_ms, "VALUES"):
        if 0 < seq < events[0][0]:
            print(f"{events[0][0] - seq} events are lost: expire-log-size was too small, or the server restarted")
        for number, due_ms, why, _, name, payload in events:
            if why in (b"expired", "expired"):  # a text with decode_responses=True
                run(name, payload, time.time() * 1000 - due_ms)
            seq = number + 1
        client.execute_command("EXPLOG", "ACK", seq - 1)  # they are done; without it others could read them, too
    return seq


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
    client = redis.Redis.from_url(parser.parse_args().url)
    for task, delay_ms in (("third", 1500), ("first", 500), ("second", 1000), ("cancelled", 700)):
        schedule(client, f"task:{task}", f"payload of the {task}", delay_ms)
    client.delete("task:cancelled")
    work(client, lambda name, payload, late_ms: print(f"{name.decode()}: {payload.decode()}, {late_ms:.0f} ms late"))


if __name__ == "__main__":
    main()

"""scripts/examples/delayed_tasks.py: the steps of scripts/suite/clients.py. Arguments: port, password."""

import os
import random
import sys
import threading

import redis

from transcript import expect, tell

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "scripts", "examples"))

import delayed_tasks

TASKS = 2000


def main():
    client = redis.Redis(port=int(sys.argv[1]), username="default", password=sys.argv[2])
    client.config_set("expire-log-size", "16mb")
    done = []

    def run(name, payload, late_ms):
        expect(late_ms > -1, f"{name} came {-late_ms} ms early")
        done.append((name, payload))

    delays = list(range(TASKS))
    random.Random(1).shuffle(delays)
    with client.pipeline(transaction=False) as pipe:
        for number, delay in enumerate(delays):
            delayed_tasks.schedule(pipe, f"task:{number}", f"payload {number}", 500 + delay)
        pipe.delete("task:7")
        pipe.execute()
    seq = delayed_tasks.work(client, run)
    wanted = {(f"task:{n}".encode(), f"payload {n}".encode()) for n in range(TASKS) if n != 7}
    expect(len(done) == len(wanted) and set(done) == wanted, f"{len(done)} of {len(wanted)} tasks")
    tell("each task comes once, with its value", len(done))

    events = client.execute_command("EXPLOG", "READ", 0)
    expect(events == [] and client.execute_command("EXPLOG", "ACK", seq - 1) == 0, f"not let go: {events}")
    tell("ACK has let go of them", events)

    done.clear()
    worker = threading.Thread(target=delayed_tasks.work, args=(client, run, seq, 2000))
    worker.start()
    delayed_tasks.schedule(client, "late", "first", 60000)
    delayed_tasks.schedule(client, "late", "second", 50)
    worker.join()
    expect(done == [(b"late", b"second")], f"{done}")
    tell("a worker that waits gets the task as it was set last", done)


main()

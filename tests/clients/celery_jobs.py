"""Celery, with Redis as broker and result backend, and its worker processes. Arguments: port, password."""

import os
import signal
import subprocess
import sys
import threading

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
URL = os.environ["URL"] = f"redis://default:{PASSWORD}@127.0.0.1:{PORT}/0"

import celery.exceptions
import redis
from celery import chain, chord, group
from celery_work import add, app, fails, fails_until, named, progresses, silent, stays, total

from transcript import eventually, tell

LIMIT_S = 10


def worker(name, *more):
    """Starts a worker process and waits until it answers a ping."""
    command = [sys.executable, "-m", "celery", "--app", "celery_work", "worker", "--hostname", f"{name}@here", *more]
    folder = os.path.dirname(os.path.realpath(__file__))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=folder)
    eventually(lambda: app.control.ping([f"{name}@here"], timeout=0.2), bool, f"no {name}")
    return process


def outcome(result):
    """Waits for the end of a task. Returns its state, and its value or error."""
    try:
        value = result.get(timeout=LIMIT_S)
    except celery.exceptions.TimeoutError:
        sys.exit(f"no end of {result.id}")
    except Exception as error:
        value = error
    return [result.state, value]


class Events:
    """Receives the events that workers send about tasks, and keeps them by task."""

    def __init__(self):
        self.kept = {}
        self._ready = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self._ready.wait(LIMIT_S)

    def _listen(self):
        with app.connection_for_read() as connection:
            receiver = app.events.Receiver(connection, handlers={"*": self._keep})
            with receiver.consumer_context():
                self._ready.set()
                for _ in receiver.consume(limit=None, timeout=None, wakeup=True):
                    pass

    def _keep(self, event):
        if "uuid" in event:
            self.kept.setdefault(event["uuid"], []).append(event["type"])


def queues(r):
    """Tasks wait for the first worker, which does them by priority, and those of the same priority in order."""
    names = (("a", 9), ("b", 0), ("c", 5), ("d", 0), ("e", 3))
    sent = [named.apply_async((name,), priority=priority) for name, priority in names]
    lengths = {key.decode(): r.llen(key) for key in r.scan_iter("celery*", _type="list")}
    purged = [silent.apply_async(("purged",), queue="other").state, app.control.purge(), lengths]
    sent = [named.apply_async((name,), priority=priority) for name, priority in names]
    process = worker("solo", "--pool", "solo")
    results = [outcome(one) for one in sent]
    tell("queues", purged, results, r.lrange("ran", 0, -1))

    held = add.apply_async((1, 2), countdown=600)
    inspect = app.control.inspect(["solo@here"], timeout=0.2)
    eventually(inspect.scheduled, lambda told: told and len(told["solo@here"]) == 1, "not held")
    before = [r.hlen("unacked"), r.zcard("unacked_index"), r.llen("celery"), held.state]
    process.send_signal(signal.SIGTERM)
    code = process.wait(LIMIT_S)
    tell("gives back what it holds", *before, code, r.llen("celery"), r.hlen("unacked"), r.zcard("unacked_index"))
    r.delete("celery")


def plain(r, events):
    result = add.delay(2, 3)
    saw = [outcome(result), result.name, result.args, result.successful(), 0 < r.ttl(f"celery-task-meta-{result.id}") <= 86_400]
    seen = eventually(lambda: events.kept.get(result.id, []), lambda all: len(all) == 3, "no events")
    result.forget()
    tell("does tasks", *saw, list(seen), result.state)

    failed, hopeless, again = fails.delay("why"), fails_until.delay(9), fails_until.delay(2)
    saw = [outcome(failed), "ValueError: why" in failed.traceback, outcome(hopeless), outcome(again)]
    tell("fails and tries again", *saw)

    slow = progresses.delay()
    state = eventually(lambda: (slow.state, slow.info), lambda seen: seen[0] == "PROGRESS", "no progress")
    r.rpush("go on", 1)
    tell("tells of progress", state, outcome(slow))

    later, expired = named.apply_async(("later",), countdown=0.5), named.apply_async(("never",), expires=-1)
    r.delete("ran")
    silent.delay("silent")
    eventually(lambda: r.lrange("ran", 0, -1), lambda all: b"silent" in all, "not silent")
    saw = [outcome(later), outcome(expired)]
    tell("delays, and lets expire", *saw, sorted(r.lrange("ran", 0, -1)))

    many = [add.delay(number, number) for number in range(100)]
    tell("does many", [one.get(timeout=LIMIT_S) for one in many])


def canvas():
    saw = [outcome(chain(add.s(1, 2), add.s(3), add.s(4)).delay())]
    both = group(add.s(number, number) for number in range(10)).delay()
    saw.append([both.get(timeout=LIMIT_S), both.completed_count(), both.successful()])
    both.save()
    restored = app.GroupResult.restore(both.id)
    saw.append([restored.get(timeout=LIMIT_S), restored.delete()])
    tell("chains and groups", *saw)

    saw = [outcome(chord((add.s(number, number) for number in range(10)), total.s()).delay())]
    saw.append(type(outcome(chord([add.s(1, 1), fails.s("part")], total.s()).delay())[1]).__name__)
    saw.append(outcome(chain(group(add.s(1, 1), add.s(2, 2)), total.s(), add.s(100)).delay()))
    tell("chords", *saw)


def control(r):
    inspect = app.control.inspect(["many@here"], timeout=2)
    registered = [name for name in inspect.registered()["many@here"] if name.startswith("celery_work")]
    tell("is inspected", sorted(registered), [queue["name"] for queue in inspect.active_queues()["many@here"]])

    r.delete("ran")
    stuck = stays.delay()
    eventually(lambda: r.llen("ran"), lambda count: count == 1, "not begun")
    active = [task["id"] == stuck.id for task in inspect.active()["many@here"]]
    stuck.revoke(terminate=True, signal="SIGKILL")
    unborn = add.apply_async((1, 2), countdown=1)
    unborn.revoke()
    tell("revokes", active, outcome(stuck), outcome(unborn))

    late = stays.apply_async(soft_time_limit=1)
    tell("takes too long", outcome(late)[0], type(late.result).__name__)
    limits = app.control.rate_limit("celery_work.add", "600/m", destination=["many@here"], reply=True, timeout=2)
    tell("is controlled", limits, [outcome(add.delay(number, 1)) for number in range(3)])


def main():
    r = redis.Redis.from_url(URL)
    queues(r)
    events = Events()
    process = worker("many", "--concurrency", "2")
    plain(r, events)
    canvas()
    control(r)
    app.control.shutdown(["many@here"])
    tell("the worker leaves", process.wait(LIMIT_S), r.llen("celery"), r.hlen("unacked"))


main()

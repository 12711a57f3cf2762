"""RQ: jobs, and the worker processes that do them. Arguments: port, password."""

import datetime
import os
import signal
import subprocess
import sys

import redis
import rq
import rq_work
from rq.command import send_shutdown_command, send_stop_job_command
from rq.job import Job
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry

from transcript import eventually, expect, tell

PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
URL = f"redis://default:{PASSWORD}@127.0.0.1:{PORT}/0"
ENDED = ("finished", "failed", "stopped", "canceled")


def worker(*queues, more=()):
    """Starts a worker process. It logs to standard error."""
    folder = os.path.dirname(os.path.realpath(__file__))
    command = ["/usr/bin/rq", "worker", "--url", URL, "--path", folder, *more, *queues]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def fate(job):
    """Waits for the end of a job. Returns its state, its result, and the last line of its error."""
    eventually(lambda: job.get_status(), lambda status: status in ENDED, f"no end of {job.func_name}")
    job.refresh()
    error = job.exc_info.strip().splitlines()[-1] if job.exc_info else None
    return [job.get_status(), job.result, error]


def plain(r):
    default, high = rq.Queue(connection=r), rq.Queue("high", connection=r)
    first = default.enqueue(rq_work.double, 21)
    order = [queue.enqueue(rq_work.named, name) for queue, name in ((default, "a"), (high, "b"), (default, "c"))]
    order.append(default.enqueue(rq_work.named, "d", at_front=True))
    waiting = [first.get_status(), len(default), len(high), order[2].get_position(), sorted(q.name for q in rq.Queue.all(r))]
    tell("enqueues", *waiting, default.job_ids == [order[3].id, first.id, order[0].id, order[2].id])

    process = worker("high", "default", more=["--with-scheduler"])
    tell("processes", fate(first), [fate(job) for job in order], r.lrange("ran", 0, -1))

    workers = eventually(lambda: rq.Worker.all(r), lambda all: all and all[0].get_state() == "idle", "no idle worker")
    tell("workers", len(workers), workers[0].queue_names(), rq.Worker.count(queue=high), workers[0].pid == process.pid)

    kept = [0 < r.ttl(first.key) <= 500, first.return_value(), [result.return_value for result in first.results()]]
    brief = default.enqueue(rq_work.double, 1, result_ttl=0)
    eventually(lambda: r.exists(brief.key), lambda exists: not exists, "a result stays")
    lasting = default.enqueue(rq_work.with_meta, result_ttl=-1)
    tell("keeps results", *kept, fate(lasting), r.ttl(lasting.key), lasting.get_meta(), len(FinishedJobRegistry(queue=default)))
    return process, workers[0]


def failures(r):
    queue = rq.Queue(connection=r)
    job = queue.enqueue(rq_work.fails, on_success=rq_work.on_success, on_failure=rq_work.on_failure)
    good = queue.enqueue(rq_work.double, 2, on_success=rq_work.on_success, on_failure=rq_work.on_failure)
    registry = FailedJobRegistry(queue=queue)
    saw = [fate(job), fate(good)]
    called = eventually(lambda: r.lrange("called", 0, -1), lambda all: len(all) == 2, "not called")
    tell("fails", *saw, called, registry.get_job_ids() == [job.id])

    again = queue.enqueue(rq_work.fails_until, 3, retry=rq.Retry(max=3))
    later = queue.enqueue(rq_work.fails_until, 2, retry=rq.Retry(max=1, interval=1))
    tell("tries again", fate(again), again.retries_left, fate(later), r.mget(f"tries:{again.id}", f"tries:{later.id}"))

    flaky = queue.enqueue(rq_work.fails_until, 2)
    saw = [fate(flaky), len(registry)]
    registry.requeue(flaky)
    tell("is requeued by hand", *saw, fate(flaky), len(registry))

    dead = queue.enqueue(rq_work.dies)
    status, result, error = fate(dead)
    tell("loses its process", status, result, error.split("(")[0])


def times(r, worker_seen):
    queue = rq.Queue(connection=r)
    parts = [queue.enqueue(rq_work.double, number) for number in (1, 2)]
    whole = queue.enqueue(rq_work.total, [job.id for job in parts], depends_on=parts)
    bad = queue.enqueue(rq_work.fails)
    blocked = queue.enqueue(rq_work.double, 1, depends_on=bad)
    saw = [fate(whole), fate(bad), blocked.get_status(), len(queue.deferred_job_registry)]
    blocked.cancel()
    tell("waits for others", *saw, blocked.get_status(), len(queue.deferred_job_registry), len(queue.canceled_job_registry))

    soon = queue.enqueue_in(datetime.timedelta(seconds=1), rq_work.named, "later")
    never = queue.enqueue_at(datetime.datetime(2100, 1, 1), rq_work.named, "never")
    registry = ScheduledJobRegistry(queue=queue)
    saw = [soon.get_status(), len(registry), registry.get_scheduled_time(never.id).year, fate(soon), len(registry)]
    never.delete()
    tell("schedules", *saw, len(registry), Job.exists(never.id, r))

    stays = queue.enqueue(rq_work.stays)
    eventually(worker_seen.get_current_job_id, lambda id: id == stays.id, "not begun")
    saw = [stays.get_status(), len(StartedJobRegistry(queue=queue))]
    send_stop_job_command(r, stays.id)
    tell("is stopped", *saw, fate(stays)[0], len(StartedJobRegistry(queue=queue)))

    slow = queue.enqueue(rq_work.stays, job_timeout=1)
    tell("takes too long", *fate(slow))


def main():
    r = redis.Redis.from_url(URL)
    process, seen = plain(r)
    failures(r)
    times(r, seen)
    send_shutdown_command(r, seen.name)
    code = process.wait(20)
    tell("the worker leaves", code, rq.Worker.count(connection=r))

    burst = rq.Queue("burst", connection=r)
    jobs = [burst.enqueue(rq_work.double, number) for number in range(20)]
    two = [worker("burst", more=["--burst"]) for _ in range(2)]
    codes = [one.wait(20) for one in two]
    tell("two workers", codes, [job.get_status() for job in jobs], [job.result for job in jobs], len(burst))

    expect(burst.empty() == 0 and len(burst.finished_job_registry) == 20, "jobs are left")
    many = [burst.prepare_data(rq_work.double, (number,)) for number in range(5)]
    told = [len(burst.enqueue_many(many)), len(burst), burst.empty(), len(burst)]
    burst.delete()
    tell("empties a queue", *told, sorted(key for key in r.scan_iter("rq:queue*")))


main()

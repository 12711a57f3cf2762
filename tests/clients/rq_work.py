"""The jobs that rq_jobs.py gives to workers of RQ."""

import os
import signal
import threading

from rq import get_current_job


def double(number):
    return 2 * number


def named(name):
    """Appends its name to a list, so that the driver sees in which order jobs ran."""
    get_current_job().connection.rpush("ran", name)
    return name


def with_meta():
    job = get_current_job()
    job.meta["seen"] = True
    job.save_meta()
    return job.meta


def fails_until(count):
    job = get_current_job()
    if job.connection.incr(f"tries:{job.id}") < count:
        raise ValueError("not yet")
    return "at last"


def fails():
    raise ValueError("never")


def stays():
    """Runs until it is stopped."""
    threading.Event().wait()


def dies():
    os.kill(os.getpid(), signal.SIGKILL)


def total(ids):
    return sum(get_current_job().fetch(one, get_current_job().connection).result for one in ids)


def on_success(job, connection, result, *_, **__):
    connection.rpush("called", f"success {result}")


def on_failure(job, connection, kind, value, _):
    connection.rpush("called", f"failure {value}")

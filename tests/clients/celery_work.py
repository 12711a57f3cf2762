"""The application and the tasks that celery_jobs.py gives to workers of Celery. URL is its broker and result backend."""

import os
import threading

import celery
import redis

app = celery.Celery("work", broker=os.environ["URL"], backend=os.environ["URL"])
app.conf.update(
    broker_connection_retry_on_startup=True,
    broker_transport_options={"priority_steps": [0, 3, 6, 9], "queue_order_strategy": "priority", "sep": ":"},
    result_extended=True,
    task_track_started=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=True,
    worker_hijack_root_logger=False,
)


def ran(name):
    redis.Redis.from_url(os.environ["URL"]).rpush("ran", name)


@app.task
def add(x, y):
    return x + y


@app.task
def named(name):
    ran(name)
    return name


@app.task(ignore_result=True)
def silent(name):
    ran(name)


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def fails(text):
    raise ValueError(text)


@app.task(bind=True, max_retries=3)
def fails_until(self, count):
    if self.request.retries < count:
        raise self.retry(countdown=0.05, exc=ValueError(f"try {self.request.retries}"))
    return self.request.retries


@app.task(bind=True)
def progresses(self):
    self.update_state(state="PROGRESS", meta={"done": 50})
    redis.Redis.from_url(os.environ["URL"]).blpop("go on")
    return "done"


@app.task
def stays():
    """Runs until it is stopped."""
    ran("stays")
    threading.Event().wait()
